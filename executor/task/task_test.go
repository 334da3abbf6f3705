// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/watch"
	"kudo.dev/kudo/render"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	replicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	budgets     = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	instances   = schema.GroupVersionResource{Group: "kudo.dev", Version: "v1beta1", Resource: "instances"}
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

type cluster struct {
	Env
	dynamic *dynamicfake.FakeDynamicClient
	disco   *fakediscovery.FakeDiscovery
	clock   *testclock.FakePassiveClock
	notify  chan string
	fail    error // of the next apply
	applies int
}

func newCluster(t *testing.T) *cluster {
	d := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	d.Resources = []*metav1.APIResourceList{
		{GroupVersion: "batch/v1", APIResources: []metav1.APIResource{{Name: "jobs", Kind: "Job", Namespaced: true}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true}}},
	}
	c := &cluster{notify: make(chan string, 100), disco: d, clock: testclock.NewFakePassiveClock(time.Now())}
	c.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{watch.PodsResource: "PodList", replicaSets: "ReplicaSetList", jobs: "JobList", deployments: "DeploymentList", budgets: "PodDisruptionBudgetList", crds: "CustomResourceDefinitionList", instances: "InstanceList"})
	c.dynamic.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if err := c.fail; err != nil {
			c.fail = nil
			return true, nil, err
		}
		p := a.(clienttesting.PatchAction)
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(p.GetPatch()); err != nil {
			return true, nil, err
		}
		c.applies++
		obj.SetUID("u1")
		if err := c.dynamic.Tracker().Create(p.GetResource(), obj, p.GetNamespace()); !apierrors.IsAlreadyExists(err) {
			return true, obj, err
		}
		return true, obj, c.dynamic.Tracker().Update(p.GetResource(), obj, p.GetNamespace())
	})
	ctx, cancel := context.WithCancel(context.Background())
	hub := watch.New(ctx, c.dynamic, func(run string) { c.notify <- run })
	t.Cleanup(func() { cancel(); hub.Wait() })
	c.Env = Env{
		Client: &apply.Client{Kinds: apply.NewKinds(d, c.dynamic, c.clock), Dynamic: c.dynamic}, Hub: hub,
		Waiter: watch.Waiter{Run: "ns/run", Step: "p.s"}, Identity: apply.Identity{Namespace: "ns", Instance: "zk", InstanceUID: "iuid", RunUID: "ruid"},
		Templates: map[string]string{
			"job":    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}",
			"bad":    "{{ .Params.nope }}",
			"text":   "- a",
			"budget": "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {selector: {matchLabels: {a: b}}}",
			"late":   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: late}\nstatus: {conditions: [{type: Progressing, reason: ProgressDeadlineExceeded, lastUpdateTime: x}]}",
			"new":    "apiVersion: x.io/v1\nkind: New\nmetadata: {name: new}",
		},
		Variables: render.Variables{Params: map[string]any{"on": "TRUE", "off": false, "text": "maybe", "list": []any{}}},
	}
	return c
}

func runner(t *testing.T, kind string, spec v1beta1.TaskSpec) Runner {
	t.Helper()
	r, err := New(v1beta1.Task{Name: "x", Kind: kind, Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		spec       v1beta1.TaskSpec
		want       engine.Outcome
		reason     string
		message    string
		holds      bool
	}{
		{"dummy", "Dummy", v1beta1.TaskSpec{Done: true}, engine.Done, "", "", false},
		{"dummy waits", "Dummy", v1beta1.TaskSpec{}, engine.Waiting, "", "waits", false},
		{"dummy fatal alone", "Dummy", v1beta1.TaskSpec{Fatal: true}, engine.Waiting, "", "waits", false},
		{"dummy error", "Dummy", v1beta1.TaskSpec{WantErr: true, Done: true}, engine.Retry, fault.ReasonTransient, "dummy error", true},
		{"dummy fatal", "Dummy", v1beta1.TaskSpec{WantErr: true, Fatal: true}, engine.Fatal, fault.ReasonDummy, "dummy error", true},
		{"apply", "Apply", v1beta1.TaskSpec{Resources: []string{"job"}}, engine.Waiting, "", "waits for Job ns/j: 0 of 1 completions", false},
		{"apply nothing", "Apply", v1beta1.TaskSpec{}, engine.Done, "", "", false},
		{"no template", "Apply", v1beta1.TaskSpec{Resources: []string{"x"}}, engine.Fatal, fault.ReasonRendering, "bad, budget, job, late, new, text", true},
		{"render error", "Apply", v1beta1.TaskSpec{Resources: []string{"job", "bad"}}, engine.Fatal, fault.ReasonRendering, "nope", true},
		{"no object", "Apply", v1beta1.TaskSpec{Resources: []string{"text"}}, engine.Fatal, fault.ReasonRendering, "text", true},
		{"unknown kind", "Apply", v1beta1.TaskSpec{Resources: []string{"job", "new"}}, engine.Fatal, fault.ReasonUnknownKind, "New", true},
		{"delete of what is not there", "Delete", v1beta1.TaskSpec{Resources: []string{"job"}}, engine.Done, "", "", false},
		{"delete of an unknown kind", "Delete", v1beta1.TaskSpec{Resources: []string{"new"}}, engine.Done, "", "", false},
		{"delete render error", "Delete", v1beta1.TaskSpec{Resources: []string{"bad"}}, engine.Fatal, fault.ReasonRendering, "nope", true},
		{"toggle on", "Toggle", v1beta1.TaskSpec{Parameter: "on", Resources: []string{"job"}}, engine.Waiting, "", "Job", false},
		{"toggle off", "Toggle", v1beta1.TaskSpec{Parameter: "off", Resources: []string{"job"}}, engine.Done, "", "", false},
		{"toggle of text", "Toggle", v1beta1.TaskSpec{Parameter: "text"}, engine.Fatal, fault.ReasonToggle, "\"maybe\"", true},
		{"toggle of a list", "Toggle", v1beta1.TaskSpec{Parameter: "list"}, engine.Fatal, fault.ReasonToggle, "list", true},
		{"toggle of nothing", "Toggle", v1beta1.TaskSpec{Parameter: "none"}, engine.Fatal, fault.ReasonToggle, "\"none\"", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newCluster(t)
			got := runner(t, c.kind, c.spec).Run(context.Background(), cl.Env)
			message := got.Message
			if got.Err != nil {
				message = got.Err.Error()
				if reason, _ := fault.Classify(got.Err); reason != c.reason {
					t.Errorf("reason %s", reason)
				}
			}
			if got.Outcome != c.want || !strings.Contains(message, c.message) || got.Holds != c.holds || (got.Err != nil) != (c.reason != "") {
				t.Errorf("got %+v", got)
			}
			if got.Outcome == engine.Fatal && cl.applies != 0 {
				t.Error("a package that cannot work changed something")
			}
		})
	}
}

func TestUnsupportedKind(t *testing.T) {
	for _, kind := range []string{"Pipes", ""} {
		_, err := New(v1beta1.Task{Name: "x", Kind: kind})
		if _, final := fault.Classify(err); !final || !strings.Contains(err.Error(), `task "x"`) || !strings.Contains(err.Error(), "Apply, Delete, Dummy, KudoOperator, Pipe, Toggle") {
			t.Errorf("%q: %v", kind, err)
		}
	}
}

// TestRetriedApply: a task goes on where it was, and what is applied is not applied again.
func TestRetriedApply(t *testing.T) {
	c := newCluster(t)
	c.fail = apierrors.NewInternalError(errors.New("failed calling webhook \"w\""))
	r := runner(t, "Apply", v1beta1.TaskSpec{Resources: []string{"job"}})
	if got := r.Run(context.Background(), c.Env); got.Outcome != engine.Retry || !got.Holds {
		t.Fatalf("got %+v", got)
	}
	for range 3 {
		if got := r.Run(context.Background(), c.Env); got.Outcome != engine.Waiting || got.Objects[0].Name != "j" || got.Objects[0].Ready {
			t.Fatalf("got %+v", got)
		}
	}
	if c.applies != 1 {
		t.Errorf("applied %d times", c.applies)
	}
}

// TestJobThatIsRemovedWhenFinished: a Job with ttlSecondsAfterFinished 0 has run although it is gone when we look.
func TestJobThatIsRemovedWhenFinished(t *testing.T) {
	for _, c := range []struct {
		condition string
		want      engine.Outcome
		applies   int
	}{{"Complete", engine.Done, 1}, {"Failed", engine.Fatal, 1}, {"Other", engine.Waiting, 2}} {
		t.Run(c.condition, func(t *testing.T) {
			cl := newCluster(t)
			r := runner(t, "Apply", v1beta1.TaskSpec{Resources: []string{"job"}})
			r.Run(context.Background(), cl.Env)
			<-cl.notify // the first list
			time.Sleep(100 * time.Millisecond)
			o, err := cl.dynamic.Tracker().Get(jobs, "ns", "j")
			if err != nil {
				t.Fatal(err)
			}
			job := o.(*unstructured.Unstructured).DeepCopy()
			job.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": c.condition, "status": "True"}}}
			if err := cl.dynamic.Tracker().Update(jobs, job, "ns"); err != nil {
				t.Fatal(err)
			}
			if err := cl.dynamic.Tracker().Delete(jobs, "ns", "j"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond) // both events arrive before we look
			if got := r.Run(context.Background(), cl.Env); got.Outcome != c.want || cl.applies != c.applies {
				t.Errorf("applied %d times: %+v", cl.applies, got)
			}
		})
	}
}

// TestDeleteWaits: a Delete holds back what comes after it until the object is gone.
func TestDeleteWaits(t *testing.T) {
	c := newCluster(t)
	stuck := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "j", "namespace": "ns", "uid": "u1", "finalizers": []any{"x.io/f"}, "deletionTimestamp": "2030-01-01T00:00:00Z"}}}
	if err := c.dynamic.Tracker().Create(jobs, stuck, "ns"); err != nil {
		t.Fatal(err)
	}
	deletes := 0
	c.dynamic.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) { deletes++; return true, nil, nil })
	s := &Step{}
	defined := []v1beta1.Task{{Name: "rm", Kind: "Delete", Spec: v1beta1.TaskSpec{Resources: []string{"job"}}}, {Name: "next", Kind: "Dummy", Spec: v1beta1.TaskSpec{Done: true}}}
	recorded := &v1beta1.StepExecutionStatus{Tasks: []v1beta1.TaskExecutionStatus{{Name: "rm"}, {Name: "next"}}}
	for range 3 {
		got := s.Pass(context.Background(), c.Env, defined, recorded)
		if len(got.Tasks) != 1 || got.Tasks[0].Outcome != engine.Waiting || !strings.Contains(got.Tasks[0].Message, "x.io/f") || got.Recheck == 0 {
			t.Fatalf("got %+v", got)
		}
	}
	if err := c.dynamic.Tracker().Delete(jobs, "ns", "j"); err != nil {
		t.Fatal(err)
	}
	if got := s.Pass(context.Background(), c.Env, defined, recorded); len(got.Tasks) != 2 || got.Tasks[1].Outcome != engine.Done {
		t.Errorf("got %+v", got)
	}
	if deletes != 1 {
		t.Errorf("%d deletes", deletes)
	}
}

func TestCompleteTasksAreNotInvoked(t *testing.T) {
	c := newCluster(t)
	defined := []v1beta1.Task{{Name: "a", Kind: "Apply", Spec: v1beta1.TaskSpec{Resources: []string{"job"}}}, {Name: "b", Kind: "Dummy", Spec: v1beta1.TaskSpec{Done: true}}}
	recorded := &v1beta1.StepExecutionStatus{Tasks: []v1beta1.TaskExecutionStatus{{Name: "a", Status: v1beta1.ExecutionComplete}, {Name: "b"}}}
	if got := (&Step{}).Pass(context.Background(), c.Env, defined, recorded); len(got.Tasks) != 1 || got.Tasks[0].Task != "b" || c.applies != 0 {
		t.Errorf("got %+v", got)
	}
}
