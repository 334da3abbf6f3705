// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package upgrade

import (
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// operator has a plan "work" whose second step waits until the node has the label, between two that make ConfigMaps, and a plan
// "quick" that is over at once.
func operator(label string) lab.Operator {
	return lab.Operator{
		Plans:      map[string]v1beta1.Plan{"work": lab.Serial("first", "wait", "last"), "quick": lab.Serial("made")},
		Tasks:      []v1beta1.Task{lab.Apply("first", "first"), lab.Apply("wait", "wait"), lab.Apply("last", "last"), lab.Apply("made", "made")},
		Templates:  map[string]string{"first": lab.ConfigMap("first", "1"), "wait": lab.Workload("Deployment", "wait", label), "last": lab.ConfigMap("last", "3"), "made": lab.ConfigMap("made", "{{ .Params.size }}")},
		Parameters: []v1beta1.Parameter{lab.Parameter("size", "1")},
	}
}

// waiting is an Instance in the middle of a run: its first step is complete, and its second waits for allow.
type waiting struct {
	ns  string
	run *v1beta1.PlanExecution
}

func wait(t *testing.T, l *lab.Lab) waiting {
	t.Helper()
	ns := l.Namespace(t)
	l.Deployed(t, ns, operator("test/"+ns))
	pe := l.Trigger(t, ns, "work")
	pe = l.Run(t, pe, "to wait in its second step", func(pe *v1beta1.PlanExecution) bool {
		s := lab.Step(t, pe, "wait")
		return s.Status == v1beta1.ExecutionInProgress && strings.Contains(s.Message, "0 of 1 replicas available")
	})
	return waiting{ns, pe}
}

// forget deletes what the first step made. It comes back if the step runs again.
func (w waiting) forget(t *testing.T, l *lab.Lab) {
	t.Helper()
	if err := l.Kube.CoreV1().ConfigMaps(w.ns).Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// completes lets the run go on to its end and checks that the first step, which is recorded complete, is left alone.
func (w waiting) completes(t *testing.T, l *lab.Lab) {
	t.Helper()
	ended := l.Ended(t, w.run, v1beta1.ExecutionComplete)
	l.Unlocked(t, w.ns, "sample")
	was, is := lab.Step(t, w.run, "first"), lab.Step(t, ended, "first")
	if is.Status != v1beta1.ExecutionComplete || !is.StartTime.Equal(was.StartTime) || !is.CompletionTime.Equal(was.CompletionTime) || is.Attempts != was.Attempts {
		t.Errorf("the step that was complete: was %+v, is %+v", was, is)
	}
	if !ended.Status.StartTime.Equal(w.run.Status.StartTime) {
		t.Errorf("the run began %v and again %v", w.run.Status.StartTime, ended.Status.StartTime)
	}
	l.Object(t, lab.ConfigMaps, w.ns, "first", "not to be made again", func(obj *unstructured.Unstructured) bool {
		if obj != nil {
			t.Error("a completed step was repeated: it made its ConfigMap again")
		}
		return true
	})
	l.Object(t, lab.ConfigMaps, w.ns, "last", "to be made", func(obj *unstructured.Unstructured) bool { return obj != nil })
}

func suspend(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, value string) {
	t.Helper()
	if _, err := l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Patch(t.Context(), pe.Name, types.MergePatchType, []byte(`{"spec":{"suspend":`+value+`}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// held suspends a run before its last step.
func held(t *testing.T, l *lab.Lab) waiting {
	t.Helper()
	w := wait(t, l)
	suspend(t, l, w.run, "true")
	l.Allow(t, "test/"+w.ns)
	w.run = l.Run(t, w.run, "to be held before its last step", func(pe *v1beta1.PlanExecution) bool {
		return lab.Step(t, pe, "wait").Status == v1beta1.ExecutionComplete && isHeld(pe)
	})
	return w
}

func isHeld(pe *v1beta1.PlanExecution) bool {
	return meta.IsStatusConditionTrue(pe.Status.Conditions, v1beta1.SuspendedConditionType)
}

// triggered starts a plan that is seen by a watch and completes.
func triggered(t *testing.T, l *lab.Lab, ns string) {
	t.Helper()
	runs := l.Dynamic.Resource(lab.Executions).Namespace(ns)
	list, err := runs.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := runs.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	pe := l.Trigger(t, ns, "quick")
	select {
	case e, open := <-w.ResultChan():
		if obj, ok := e.Object.(*unstructured.Unstructured); !open || !ok || e.Type != watch.Added || obj.GetUID() != pe.UID {
			t.Errorf("the watch says %s %v", e.Type, e.Object)
		}
	case <-time.After(lab.Patience):
		t.Error("the watch says nothing of a new run")
	}
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
}

// TestUpgradeFromPreviousCommit: the previous commit's programs are replaced by ours while a run is under way, then ours by theirs,
// and theirs by ours again. All that was stored is read back as it was, and runs go on.
func TestUpgradeFromPreviousCommit(t *testing.T) {
	if os.Getenv("KUDO_E2E") == "" {
		t.Skip("set KUDO_E2E: it compiles the previous commit")
	}
	older := previous(t)
	room.Options.KUDO.BinDir = older
	l := room.Enter(t)
	replace := func(dir string, stop func()) (before, after snapshot) {
		t.Helper()
		if err := l.KUDO.StopExecutor(t.Context()); err != nil {
			t.Fatal(err)
		}
		before = take(t, l)
		stop()
		if err := l.KUDO.UseBinDir(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		t.Logf("from now on: the programs in %s", l.KUDO.BinDir())
		if err := l.KUDO.StartServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		return before, take(t, l)
	}
	stop := func() {
		if err := l.KUDO.StopServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	kill := func() {
		if err := l.KUDO.KillServer(); err != nil {
			t.Fatal(err)
		}
	}
	startExecutor := func() {
		t.Helper()
		if err := l.KUDO.StartExecutor(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	t.Log("what the previous commit leaves: an idle Instance with history, one in the middle of a run, one whose run is held")
	idle := l.Namespace(t)
	l.Deployed(t, idle, operator("test/"+idle))
	if _, err := l.Kudo.KudoV1beta1().Operators(idle).Create(t.Context(), &v1beta1.Operator{ObjectMeta: metav1.ObjectMeta{Name: "test"}, Spec: v1beta1.OperatorSpec{Description: "a test"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	triggered(t, l, idle)
	triggered(t, l, idle)
	midway, suspended := wait(t, l), held(t, l)
	midway.forget(t, l)
	suspended.forget(t, l)

	before, after := replace("", stop)
	if l.KUDO.BinDir() == older {
		t.Fatal("the programs are the same")
	}
	known := before.words()
	readBack(t, before, after, known)
	startExecutor()
	l.Allow(t, "test/"+midway.ns)
	midway.completes(t, l)
	if pe := l.Run(t, suspended.run, "to be there", func(*v1beta1.PlanExecution) bool { return true }); !isHeld(pe) || lab.Step(t, pe, "last").StartTime != nil {
		t.Errorf("the run that was held went on: %+v", pe.Status)
	}
	suspend(t, l, suspended.run, "false")
	suspended.completes(t, l)
	triggered(t, l, idle)

	t.Log("back, in the middle of a run that our programs began")
	midway = wait(t, l)
	midway.forget(t, l)
	before, after = replace(older, kill)
	readBack(t, before, after, known)
	startExecutor()
	l.Allow(t, "test/"+midway.ns)
	midway.completes(t, l)
	triggered(t, l, idle)

	t.Log("and forward again")
	before, after = replace("", stop)
	readBack(t, before, after, known)
	startExecutor()
	triggered(t, l, idle)
}
