// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/watch"
	"kudo.dev/kudo/generated/clientset/versioned/fake"
)

var (
	executions  = v1beta1.SchemeGroupVersion.WithResource("planexecutions")
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	replicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// world is an API server of fakes that checks resourceVersions of PlanExecutions, logs what it stores, and does server-side apply.
type world struct {
	t       *testing.T
	kudo    *fake.Clientset
	dynamic *dynamicfake.FakeDynamicClient
	disco   *fakediscovery.FakeDiscovery
	cluster dynamic.Interface // what the executor sees of the cluster; dynamic unless a test puts something in between
	c       *Controller       // the one that was started last

	mu       sync.Mutex
	version  int
	statuses []v1beta1.PlanExecutionStatus // every status that was written, in order
	applied  map[string]int                // how often each object was applied, by name
	refuse   int                           // refuse so many statuses, as the server does without the lock
	lose     map[int]bool                  // lose the answers to these writes of the status, counted from 0
	outage   bool                          // the server goes away with the next answer that is lost, until this is false again
	held     *v1beta1.PlanExecution        // what it stored last and shows when it is back
	away     int                           // how many writes of the status found it away
	same     int                           // how many writes of the status changed nothing
	old      bool                          // the server does not know which fields tell of tasks, and does not store them
	events   []string
}

const content = `
operator: {name: zookeeper}
version: 1.0.0
parameters: [{name: SWITCH, default: "true"}]
templates:
  a.yaml: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {name: '{{ .Name }}'}"
  b.yaml: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}"
  d.yaml: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 1}"
  bad.yaml: "apiVersion: x.io/v1\nkind: Nope\nmetadata: {name: x}"
tasks:
- {name: done, kind: Dummy, spec: {done: true}}
- {name: hang, kind: Dummy}
- {name: a, kind: Apply, spec: {resources: [a.yaml]}}
- {name: b, kind: Apply, spec: {resources: [b.yaml]}}
- {name: d, kind: Apply, spec: {resources: [d.yaml]}}
- {name: bad, kind: Apply, spec: {resources: [a.yaml, bad.yaml]}}
- {name: rm, kind: Delete, spec: {resources: [a.yaml]}}
- {name: switch, kind: Toggle, spec: {parameter: SWITCH, resources: [a.yaml]}}
- {name: odd, kind: Odd}
- {name: pipe, kind: Pipe, spec: {pod: a.yaml, pipe: [{file: /tmp/a, kind: Secret, key: k}]}}
plans:
`

// newWorld has an Instance zk and the run "run" of the plan "deploy", whose steps are given as "name=task,task".
func newWorld(t *testing.T, steps ...string) *world {
	t.Helper()
	plan := v1beta1.Plan{Phases: []v1beta1.Phase{{Name: "p"}}}
	for _, s := range steps {
		name, tasks, _ := strings.Cut(s, "=")
		plan.Phases[0].Steps = append(plan.Phases[0].Steps, v1beta1.Step{Name: name, Tasks: strings.Split(tasks, ",")})
	}
	return newWorldOf(t, plan)
}

func newWorldOf(t *testing.T, plan v1beta1.Plan) *world {
	t.Helper()
	rev := &v1beta1.OperatorVersionRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "rev"}}
	if err := yaml.Unmarshal([]byte(content), &rev.Data); err != nil {
		t.Fatal(err)
	}
	rev.Data.Plans = map[string]v1beta1.Plan{"deploy": plan}
	w := &world{t: t, version: 1, applied: map[string]int{}}
	w.kudo = fake.NewSimpleClientset(rev,
		&v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "zk", UID: "iuid"},
			Spec: v1beta1.InstanceSpec{PlanExecution: v1beta1.InstancePlanExecution{PlanName: "deploy", UID: "ruid"}}},
		&v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "run", UID: "ruid", ResourceVersion: "1", CreationTimestamp: metav1.Now()},
			Spec: v1beta1.PlanExecutionSpec{InstanceName: "zk", PlanName: "deploy", RevisionName: "rev"}})
	w.kudo.PrependReactor("update", "planexecutions", w.updateExecution)
	w.disco = &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	w.disco.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true}}},
	}
	w.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{watch.PodsResource: "PodList", replicaSets: "ReplicaSetList", configMaps: "ConfigMapList", deployments: "DeploymentList", crds: "CustomResourceDefinitionList"})
	w.dynamic.PrependReactor("patch", "*", w.apply)
	w.cluster = w.dynamic
	return w
}

func (w *world) updateExecution(action clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	update := action.(clienttesting.UpdateAction)
	pe := update.GetObject().(*v1beta1.PlanExecution).DeepCopy()
	stored, err := w.kudo.Tracker().Get(executions, pe.Namespace, pe.Name)
	if err != nil {
		return true, nil, err
	}
	current := stored.(*v1beta1.PlanExecution)
	if w.refuse > 0 && action.GetSubresource() == "status" {
		w.refuse--
		return true, nil, apierrors.NewConflict(executions.GroupResource(), pe.Name, errors.New("the run does not hold the lock"))
	}
	if w.held != nil && w.outage {
		w.away++
		return true, nil, apierrors.NewServiceUnavailable("away")
	}
	if w.held != nil {
		current, w.held = w.held, nil
		if err := w.kudo.Tracker().Update(executions, current, pe.Namespace); err != nil {
			return true, nil, err
		}
	}
	if pe.ResourceVersion != current.ResourceVersion {
		return true, nil, apierrors.NewConflict(executions.GroupResource(), pe.Name, errors.New("it was modified"))
	}
	if action.GetSubresource() == "status" {
		next := current.DeepCopy()
		if len(pe.Status.Log) > 0 {
			w.t.Errorf("the executor keeps and sends the log: %v", pe.Status.Log)
		}
		next.Status = *pe.Status.DeepCopy()
		for _, o := range next.Status.Reported() {
			if w.old {
				o.Tasks = nil
			}
		}
		if next.Status.Log = current.Status.Log; equality.Semantic.DeepEqual(next.Status, current.Status) {
			w.same++ // a write that changes nothing makes no version and no event
			return true, next, nil
		}
		next.Status.Log = slices.Concat(current.Status.Log, []v1beta1.PlanExecutionLogEntry{{Sequence: int64(len(current.Status.Log) + 1)}})
		pe = next
		w.statuses = append(w.statuses, *pe.Status.DeepCopy())
	}
	w.version++
	pe.ResourceVersion = strconv.Itoa(w.version)
	if w.outage && w.lose[len(w.statuses)-1] {
		w.held = pe
		return true, nil, apierrors.NewTimeoutError("the answer was lost", 0)
	}
	err = w.kudo.Tracker().Update(executions, pe, pe.Namespace)
	if err == nil && action.GetSubresource() == "status" && w.lose[len(w.statuses)-1] {
		err = apierrors.NewTimeoutError("the answer was lost", 0)
	}
	return true, pe, err
}

// apply creates or replaces the object, keeps its uid and counts.
func (w *world) apply(action clienttesting.Action) (bool, runtime.Object, error) {
	patch := action.(clienttesting.PatchAction)
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(patch.GetPatch()); err != nil {
		return true, nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version++
	w.applied[obj.GetName()]++
	obj.SetResourceVersion(strconv.Itoa(w.version))
	current, err := w.dynamic.Tracker().Get(patch.GetResource(), patch.GetNamespace(), patch.GetName())
	if apierrors.IsNotFound(err) {
		obj.SetUID(types.UID(fmt.Sprint("uid", w.version)))
		return true, obj, w.dynamic.Tracker().Create(patch.GetResource(), obj, patch.GetNamespace())
	}
	old := current.(*unstructured.Unstructured)
	obj.SetUID(old.GetUID())
	if status, ok := old.Object["status"]; ok {
		obj.Object["status"] = status
	}
	return true, obj, w.dynamic.Tracker().Update(patch.GetResource(), obj, patch.GetNamespace())
}

// start runs a controller until the returned function is called.
func (w *world) start() (stop func()) {
	w.t.Helper()
	recorder := record.NewFakeRecorder(1000)
	c := New(Config{Kudo: w.kudo, Dynamic: w.cluster, Discovery: w.disco, Events: recorder, Workers: 2})
	w.c = c
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := c.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	return func() {
		cancel()
		<-ended
		close(recorder.Events)
		for e := range recorder.Events {
			w.events = append(w.events, e)
		}
	}
}

func (w *world) run() *v1beta1.PlanExecution {
	w.t.Helper()
	pe, err := w.kudo.KudoV1beta1().PlanExecutions("ns").Get(context.Background(), "run", metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return pe
}

// change changes the spec of the run as a user does.
func (w *world) change(f func(*v1beta1.PlanExecutionSpec)) {
	w.t.Helper()
	for range 100 {
		pe := w.run()
		f(&pe.Spec)
		_, err := w.kudo.KudoV1beta1().PlanExecutions("ns").Update(context.Background(), pe, metav1.UpdateOptions{})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			w.t.Fatal(err)
		}
	}
	w.t.Fatal("conflicts without end")
}

func (w *world) wait(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	w.t.Fatalf("waited in vain: %s; the run: %+v", what, w.run().Status)
}

func (w *world) waitStatus(s v1beta1.ExecutionStatus) {
	w.t.Helper()
	w.wait("status "+string(s), func() bool { return w.run().Status.Status == s })
}

func (w *world) step(i int) v1beta1.StepExecutionStatus {
	s := w.run().Status
	if len(s.Phases) == 0 {
		return v1beta1.StepExecutionStatus{}
	}
	return s.Phases[0].Steps[i]
}

func (w *world) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.applied[name]
}

// setStatus has a controller of the cluster write the status of an object.
func (w *world) setStatus(gvr schema.GroupVersionResource, name string, status map[string]any) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	o, err := w.dynamic.Tracker().Get(gvr, "ns", name)
	if err != nil {
		w.t.Fatal(err)
	}
	u := o.(*unstructured.Unstructured).DeepCopy()
	u.Object["status"] = status
	w.version++
	u.SetResourceVersion(strconv.Itoa(w.version))
	if err := w.dynamic.Tracker().Update(gvr, u, "ns"); err != nil {
		w.t.Fatal(err)
	}
}
