// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package readiness

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/watch"
	"kudo.dev/kudo/generated/clientset/versioned/fake"
	listers "kudo.dev/kudo/generated/listers/kudo/v1beta1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	replicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// room is a cluster of fakes with the Instance ns/zk, whose deploy plan has completed.
type room struct {
	t       *testing.T
	dynamic *dynamicfake.FakeDynamicClient
	kudo    *fake.Clientset
	store   cache.Indexer
	c       *Controller

	mu     sync.Mutex
	writes int
}

func enter(t *testing.T, inventory []v1beta1.InventoryEntry, objects ...string) *room {
	t.Helper()
	r := &room{t: t, store: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	i := &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "zk", UID: "iuid", Generation: 3, ResourceVersion: "1"}}
	i.Status.Inventory = inventory
	meta.SetStatusCondition(&i.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: ReasonReady, ObservedGeneration: 3})
	r.kudo = fake.NewSimpleClientset(i)
	r.kudo.PrependReactor("patch", "instances", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.writes++; a.GetSubresource() != "status" {
			t.Errorf("it writes %q", a.GetSubresource())
		}
		return false, nil, nil
	})
	disco := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	disco.Resources = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true}}},
		{GroupVersion: "batch/v1", APIResources: []metav1.APIResource{{Name: "jobs", Kind: "Job", Namespaced: true}}},
	}
	r.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{configMaps: "ConfigMapList",
		deployments: "DeploymentList", jobs: "JobList", watch.PodsResource: "PodList", replicaSets: "ReplicaSetList", definitions: "CustomResourceDefinitionList"})
	for _, text := range objects {
		r.put(text)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.c = New(clock.RealClock{})
	r.c.Kudo, r.c.Instances = r.kudo, listers.NewInstanceLister(r.store)
	r.c.Client = &apply.Client{Kinds: apply.NewKinds(disco, r.dynamic, clock.RealClock{}), Dynamic: r.dynamic}
	r.c.Hub = watch.New(ctx, r.dynamic, func(w string) { r.c.Enqueue(strings.TrimPrefix(w, Waiters)) })
	ended := make(chan struct{})
	go func() { defer close(ended); r.c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; r.c.Hub.Wait() })
	r.sync()
	return r
}

// sync gives the controller the Instance as it is stored.
func (r *room) sync() *v1beta1.Instance {
	r.t.Helper()
	i, err := r.kudo.KudoV1beta1().Instances("ns").Get(context.Background(), "zk", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.store.Update(i); err != nil {
		r.t.Fatal(err)
	}
	r.c.Enqueue("ns/zk")
	return i
}

var kindsOf = map[string]schema.GroupVersionResource{"ConfigMap": configMaps, "Deployment": deployments, "Job": jobs, "Pod": watch.PodsResource, "ReplicaSet": replicaSets}

func (r *room) put(text string) {
	r.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	u := &unstructured.Unstructured{}
	if err == nil {
		err = u.UnmarshalJSON(raw)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	u.SetNamespace("ns")
	u.SetLabels(map[string]string{"heritage": "kudo", "kudo.dev/instance": "zk"})
	u.SetResourceVersion(fmt.Sprint(time.Now().UnixNano()))
	gvr := kindsOf[u.GetKind()]
	if err := r.dynamic.Tracker().Create(gvr, u, "ns"); err != nil {
		err = r.dynamic.Tracker().Update(gvr, u, "ns")
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *room) wait(status metav1.ConditionStatus, message string) {
	r.t.Helper()
	var c *metav1.Condition
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c = meta.FindStatusCondition(r.sync().Status.Conditions, "Ready")
		if c != nil && c.Status == status && c.Message == message {
			return
		}
	}
	r.t.Fatalf("waited in vain for %s %q; last: %+v", status, message, c)
}

func entry(group, version, kind, name string) v1beta1.InventoryEntry {
	return v1beta1.InventoryEntry{Group: group, Version: version, Kind: kind, Namespace: "ns", Name: name, UID: "u", Tasks: []string{"t"}}
}

const (
	dep    = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, uid: du}\nspec: {replicas: 2}\n"
	fine   = dep + "status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2}"
	poor   = dep + "status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1}"
	config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}"
)

func TestReadyFollows(t *testing.T) {
	r := enter(t, []v1beta1.InventoryEntry{entry("apps", "v1", "Deployment", "d"), entry("", "v1", "ConfigMap", "c"), entry("batch", "v1", "Job", "gone")}, fine, config)
	r.put(poor)
	r.wait(metav1.ConditionFalse, "Deployment ns/d: 1 of 2 replicas available")
	r.put("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: d-2, uid: new, annotations: {deployment.kubernetes.io/revision: \"10\"}, ownerReferences: [{kind: Deployment, name: d, uid: du, controller: true}]}")
	r.put("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: d-1, uid: old, annotations: {deployment.kubernetes.io/revision: \"9\"}, ownerReferences: [{kind: Deployment, name: d, uid: du, controller: true}]}")
	for _, set := range []string{"old", "new"} {
		r.put(fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %[1]s-x, uid: p%[1]s, ownerReferences: [{kind: ReplicaSet, name: d, uid: %[1]s, controller: true}]}\nstatus: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ErrImagePull, message: no such image}}}]}", set))
	}
	r.wait(metav1.ConditionFalse, "Deployment ns/d: 1 of 2 replicas available; Pod new-x: container app: ErrImagePull: no such image")
	if err := r.dynamic.Tracker().Delete(configMaps, "ns", "c"); err != nil {
		t.Fatal(err)
	}
	r.put(fine)
	r.wait(metav1.ConditionFalse, "ConfigMap ns/c: not found")
	r.put(config)
	r.wait(metav1.ConditionTrue, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes > 8 {
		t.Errorf("%d writes", r.writes)
	}
}

// TestNotOurs: while a plan runs, and after one has failed, nothing is written, and neither without a change.
func TestNotOurs(t *testing.T) {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: ReasonReady}
	listed := []v1beta1.InventoryEntry{entry("", "v1", "ConfigMap", "c")}
	for _, c := range []struct {
		name string
		i    v1beta1.Instance
		want bool
	}{
		{"idle", v1beta1.Instance{Status: v1beta1.InstanceStatus{Conditions: []metav1.Condition{ready}}}, true},
		{"new", v1beta1.Instance{}, false},
		{"without a condition", v1beta1.Instance{Status: v1beta1.InstanceStatus{Inventory: listed}}, true},
		{"locked", v1beta1.Instance{Spec: v1beta1.InstanceSpec{PlanExecution: v1beta1.InstancePlanExecution{PlanName: "backup", UID: "u"}}, Status: v1beta1.InstanceStatus{Conditions: []metav1.Condition{ready}}}, false},
		{"failed", v1beta1.Instance{Status: v1beta1.InstanceStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionUnknown, Reason: reasonFailed}}}}, false},
	} {
		if got := ours(&c.i); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// TestChild: a child counts by its condition alone, and not while a plan of it runs.
func TestChild(t *testing.T) {
	running := v1beta1.InstanceSpec{PlanExecution: v1beta1.InstancePlanExecution{PlanName: "backup", UID: "u"}}
	for _, c := range []struct {
		name                     string
		status                   metav1.ConditionStatus
		reason, message, deleted string
		spec                     v1beta1.InstanceSpec
		want                     string
	}{
		{name: "new"},
		{name: "ready", status: metav1.ConditionTrue, reason: ReasonReady},
		{name: "ready, and a backup runs", status: metav1.ConditionTrue, reason: ReasonReady, spec: running},
		{name: "its deploy runs", status: metav1.ConditionUnknown, reason: "PlanInProgress", spec: running},
		{name: "not ready", status: metav1.ConditionFalse, reason: ReasonNotReady, message: "1 of 3", want: "1 of 3"},
		{name: "not ready, and a backup runs", status: metav1.ConditionFalse, reason: ReasonNotReady, message: "1 of 3", spec: running, want: "1 of 3"},
		{name: "failed", status: metav1.ConditionUnknown, reason: reasonFailed, message: "no disk", want: "no disk"},
		{name: "cannot be seen", status: metav1.ConditionUnknown, reason: ReasonUnknown, want: ReasonUnknown},
		{name: "deleted", status: metav1.ConditionTrue, reason: ReasonReady, deleted: "2030-01-01T00:00:00Z", want: "it is being deleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := &v1beta1.Instance{TypeMeta: metav1.TypeMeta{APIVersion: "kudo.dev/v1beta1", Kind: "Instance"}, Spec: c.spec}
			i.Status.PlanStatus = map[string]v1beta1.PlanStatus{"backup": {Name: "backup", Status: v1beta1.ExecutionFatalError}}
			if c.status != "" {
				i.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: c.status, Reason: c.reason, Message: c.message}}
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(i)
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{Object: content}
			if c.deleted != "" {
				if err := unstructured.SetNestedField(u.Object, c.deleted, "metadata", "deletionTimestamp"); err != nil {
					t.Fatal(err)
				}
			}
			if got := (&Controller{}).check(u); got.Ready != (c.want == "") || got.Message != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestChange(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	i := &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	yes, no := verdict{status: metav1.ConditionTrue, reason: ReasonReady}, verdict{status: metav1.ConditionFalse, reason: ReasonNotReady, message: strings.Repeat("x", 10_000)}
	apply := func(v verdict, now time.Time) (metav1.Condition, bool) {
		conditions, changed := changedBy(i, v, now)
		i.Status.Conditions = conditions
		return conditions[0], changed
	}
	if c, changed := apply(yes, at); !changed || c.ObservedGeneration != 2 || !c.LastTransitionTime.Time.Equal(at) {
		t.Errorf("first: %v %+v", changed, c)
	}
	if _, changed := apply(yes, at.Add(time.Hour)); changed {
		t.Error("time alone is a change")
	}
	i.Generation = 3
	if c, changed := apply(yes, at.Add(time.Hour)); !changed || c.ObservedGeneration != 3 || !c.LastTransitionTime.Time.Equal(at) {
		t.Errorf("generation: %v %+v", changed, c)
	}
	if c, changed := apply(no, at.Add(time.Hour)); !changed || len(c.Message) > maxMessage+3 || !c.LastTransitionTime.Time.Equal(at.Add(time.Hour)) {
		t.Errorf("flip: %v %+v", changed, c.LastTransitionTime)
	}
}

// TestPace: a few changes are written at once, and then one per interval.
func TestPace(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var p pace
	for n := range burst {
		if wait := p.next(now); wait != 0 {
			t.Fatalf("write %d waits %v", n, wait)
		}
		p.wrote(now)
	}
	if wait := p.next(now); wait != interval {
		t.Errorf("waits %v", wait)
	}
	now = now.Add(interval)
	if wait := p.next(now); wait != 0 {
		t.Errorf("waits %v", wait)
	}
	now = now.Add(time.Hour)
	for range burst {
		p.wrote(now)
	}
	if wait := p.next(now); wait != interval {
		t.Errorf("an hour without writes saves up more than the burst: waits %v", wait)
	}
}
