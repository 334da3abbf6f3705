// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var healthy = map[string]any{"observedGeneration": int64(0), "replicas": int64(1), "updatedReplicas": int64(1), "availableReplicas": int64(1)}

// TestManySteps: a plan whose steps wait for nothing runs through, and each step is on record as complete before the next.
func TestManySteps(t *testing.T) {
	var steps []string
	for i := range 20 {
		steps = append(steps, fmt.Sprintf("s%d=done", i))
	}
	w := newWorld(t, steps...)
	stop := w.start()
	w.waitStatus(v1beta1.ExecutionComplete)
	stop()
	if len(w.statuses) != 21 {
		t.Errorf("%d writes, want one to begin and one per step", len(w.statuses))
	}
	for n, s := range w.statuses {
		for i, st := range s.Phases[0].Steps {
			want := v1beta1.ExecutionPending
			switch {
			case i < n:
				want = v1beta1.ExecutionComplete
			case i == n:
				want = v1beta1.ExecutionInProgress
			}
			if st.Status != want {
				t.Fatalf("write %d: step %d is %s, want %s", n, i, st.Status, want)
			}
		}
	}
	want := []string{"Normal PlanStarted Execution of plan deploy started", "Normal PlanFinished Execution of plan deploy finished with status COMPLETE"}
	if len(w.events) != 4 || w.events[0] != want[0] || w.events[1] != want[0] || w.events[2] != want[1] || w.events[3] != want[1] {
		t.Errorf("events: %q", w.events)
	}
}

// TestWaitsForHealth: a step goes on with the event of its object, later tasks of the step are not held back by it.
func TestWaitsForHealth(t *testing.T) {
	w := newWorld(t, "s=d,a", "t=b")
	defer w.start()()
	w.wait("the message", func() bool { return strings.Contains(w.step(0).Message, "Deployment ns/d") })
	if w.count("a") != 1 || w.count("b") != 0 {
		t.Errorf("applied: %v", w.applied)
	}
	if s := w.step(0); s.Tasks[0].Status != v1beta1.ExecutionInProgress || s.Tasks[1].Status != v1beta1.ExecutionComplete || len(s.Objects) != 2 {
		t.Errorf("step: %+v", s)
	}
	time.Sleep(300 * time.Millisecond)
	w.mu.Lock()
	writes := len(w.statuses)
	w.mu.Unlock()
	time.Sleep(300 * time.Millisecond)
	w.mu.Lock()
	if got := len(w.statuses); got != writes {
		t.Errorf("%d writes while nothing happened", got-writes)
	}
	w.mu.Unlock()
	w.setStatus(deployments, "d", healthy)
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("d") != 1 || w.count("a") != 1 || w.count("b") != 1 {
		t.Errorf("applied: %v", w.applied)
	}
	o, err := w.dynamic.Resource(configMaps).Namespace("ns").Get(context.Background(), "a", metav1.GetOptions{})
	if err != nil || o.GetLabels()["kudo.dev/instance"] != "zk" || o.GetAnnotations()["kudo.dev/last-plan-execution-uid"] != "ruid" || o.GetOwnerReferences()[0].UID != "iuid" {
		t.Errorf("%v: %v", err, o)
	}
}

// TestAppliesAgain: an object that vanishes while a step waits for it is made again.
func TestAppliesAgain(t *testing.T) {
	w := newWorld(t, "s=d")
	defer w.start()()
	w.wait("the message", func() bool { return strings.Contains(w.step(0).Message, "Deployment ns/d") })
	time.Sleep(200 * time.Millisecond) // so that the informer has it
	if err := w.dynamic.Resource(deployments).Namespace("ns").Delete(context.Background(), "d", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.wait("a second apply", func() bool { return w.count("d") == 2 })
	w.setStatus(deployments, "d", healthy)
	w.waitStatus(v1beta1.ExecutionComplete)
}

// TestRestart: what is on record as complete is not done again by the next executor.
func TestRestart(t *testing.T) {
	w := newWorld(t, "s=a", "t=b,d", "u=done")
	stop := w.start()
	w.wait("the message", func() bool { return strings.Contains(w.step(1).Message, "Deployment ns/d") })
	stop()
	stop = w.start()
	w.wait("the open step again", func() bool { return w.count("d") == 2 })
	w.setStatus(deployments, "d", healthy)
	w.waitStatus(v1beta1.ExecutionComplete)
	stop()
	if w.count("a") != 1 || w.count("b") != 1 {
		t.Errorf("a complete step or task ran again: %v", w.applied)
	}
	stop = w.start()
	time.Sleep(200 * time.Millisecond)
	stop()
	if w.count("a") != 1 || w.count("d") != 2 {
		t.Errorf("a finished run ran again: %v", w.applied)
	}
}

func TestFatalErrors(t *testing.T) {
	for _, c := range []struct{ step, reason, want string }{
		{"s=bad", "UnknownKind", "install the CustomResourceDefinition"},
		{"s=pipe", "TaskBuildError", "does not carry out tasks of kind \"Pipe\"; it carries out Apply, Delete, Dummy, Toggle"},
		{"s=missing", "UnknownTaskName", "\"missing\""},
	} {
		t.Run(c.step, func(t *testing.T) {
			w := newWorld(t, c.step, "t=b")
			stop := w.start()
			w.waitStatus(v1beta1.ExecutionFatalError)
			stop()
			s := w.run().Status
			cond := meta.FindStatusCondition(s.Conditions, v1beta1.FailedConditionType)
			if cond == nil || cond.Reason != c.reason || !strings.Contains(cond.Message, c.want) || !strings.Contains(cond.Message, "deploy.p.s") {
				t.Errorf("condition %+v", cond)
			}
			if w.count("a") != 0 || w.count("b") != 0 || s.Phases[0].Steps[1].Status != v1beta1.ExecutionPending {
				t.Errorf("something was done: %v", w.applied)
			}
			if all := strings.Join(w.events, "\n"); !strings.Contains(all, "Warning "+c.reason) || !strings.Contains(all, "finished with status FATAL_ERROR") {
				t.Errorf("events: %s", all)
			}
		})
	}
}

func TestToggleAndDelete(t *testing.T) {
	w := newWorld(t, "s=switch", "t=rm", "u=rm")
	defer w.start()()
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("a") != 1 {
		t.Errorf("applied %v", w.applied)
	}
	if _, err := w.dynamic.Resource(configMaps).Namespace("ns").Get(context.Background(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestSuspendAndResume(t *testing.T) {
	w := newWorld(t, "s=d", "t=b")
	defer w.start()()
	w.wait("the message", func() bool { return w.step(0).Message != "" })
	w.change(func(s *v1beta1.PlanExecutionSpec) { s.Suspend = true })
	w.wait("the condition", func() bool {
		return meta.IsStatusConditionTrue(w.run().Status.Conditions, v1beta1.SuspendedConditionType)
	})
	w.setStatus(deployments, "d", healthy)
	w.wait("the step that has begun", func() bool { return w.step(0).Status == v1beta1.ExecutionComplete })
	time.Sleep(200 * time.Millisecond)
	if w.step(1).Status != v1beta1.ExecutionPending || w.count("b") != 0 {
		t.Error("a step began while the run was held")
	}
	w.change(func(s *v1beta1.PlanExecutionSpec) { s.Suspend = false })
	w.waitStatus(v1beta1.ExecutionComplete)
}

// TestWithoutTheLock: nothing is done for a run whose status the server does not take.
func TestWithoutTheLock(t *testing.T) {
	w := newWorld(t, "s=a")
	w.refuse = 1
	i, err := w.kudo.KudoV1beta1().Instances("ns").Get(context.Background(), "zk", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	i.Spec.PlanExecution.UID = "another"
	if _, err := w.kudo.KudoV1beta1().Instances("ns").Update(context.Background(), i, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	stop := w.start()
	time.Sleep(300 * time.Millisecond)
	stop()
	if w.count("a") != 0 || len(w.statuses) != 0 {
		t.Errorf("applied %v, %d writes", w.applied, len(w.statuses))
	}
}

// TestConflictsWithTheLock: a run that holds the lock goes on after conflicts that say otherwise.
func TestConflictsWithTheLock(t *testing.T) {
	w := newWorld(t, "s=a", "t=b")
	w.refuse = 3
	defer w.start()()
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("a") != 1 || w.count("b") != 1 {
		t.Errorf("applied %v", w.applied)
	}
}

// TestLostAnswers: a write that was stored although its answer did not arrive makes no complete step run again.
func TestLostAnswers(t *testing.T) {
	w := newWorld(t, "s=a", "t=b", "u=done")
	w.lose = map[int]bool{0: true, 1: true, 2: true, 3: true}
	defer w.start()()
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("a") != 1 || w.count("b") != 1 {
		t.Errorf("applied %v", w.applied)
	}
}

// TestLostAnswerBeforeAnOutage: the answer of a write is lost, and while the server is away the step gets on and its records, which
// differ, are refused. What the step has done is not done again when the server is back with the older record.
func TestLostAnswerBeforeAnOutage(t *testing.T) {
	w := newWorld(t, "s=d", "t=b")
	w.lose, w.outage = map[int]bool{2: true}, true
	defer w.start()()
	refused := func(atLeast int) func() bool {
		return func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.away >= atLeast }
	}
	w.wait("the step to have been applied and recorded", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.held != nil })
	w.setStatus(deployments, "d", map[string]any{"observedGeneration": int64(0), "replicas": int64(1), "updatedReplicas": int64(1)})
	w.wait("another record to be refused", refused(2))
	w.mu.Lock()
	w.outage = false
	w.mu.Unlock()
	w.setStatus(deployments, "d", healthy)
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("d") != 1 || w.count("b") != 1 {
		t.Errorf("applied %v", w.applied)
	}
}

func TestInstanceDeleted(t *testing.T) {
	w := newWorld(t, "s=hang")
	defer w.start()()
	w.waitStatus(v1beta1.ExecutionInProgress)
	if err := w.kudo.KudoV1beta1().Instances("ns").Delete(context.Background(), "zk", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.waitStatus(v1beta1.ExecutionFatalError)
	if s := w.run().Status; !strings.Contains(s.Message, "the Instance ns/zk was deleted") {
		t.Errorf("got %q", s.Message)
	}
}

func TestDeadlineAndTimeToLive(t *testing.T) {
	w := newWorld(t, "s=hang")
	w.change(func(s *v1beta1.PlanExecutionSpec) {
		s.ActiveDeadlineSeconds, s.TTLSecondsAfterFinished = new(int64(1)), new(int32(1))
	})
	defer w.start()()
	ended := false
	w.wait("the end of the run and of its object", func() bool {
		pe, err := w.kudo.KudoV1beta1().PlanExecutions("ns").Get(context.Background(), "run", metav1.GetOptions{})
		if err == nil && pe.Status.Status == v1beta1.ExecutionFatalError {
			ended = strings.Contains(pe.Status.Message, "activeDeadlineSeconds (1)")
		}
		return apierrors.IsNotFound(err)
	})
	if !ended {
		t.Error("the deadline did not end the run")
	}
}

func TestParallelPhases(t *testing.T) {
	w := newWorldOf(t, v1beta1.Plan{Strategy: v1beta1.Parallel, Phases: []v1beta1.Phase{
		{Name: "p", Steps: []v1beta1.Step{{Name: "s", Tasks: []string{"d"}}}},
		{Name: "q", Steps: []v1beta1.Step{{Name: "s", Tasks: []string{"a"}}, {Name: "t", Tasks: []string{"b"}}}},
	}})
	defer w.start()()
	w.wait("the second phase", func() bool {
		s := w.run().Status
		return len(s.Phases) == 2 && s.Phases[1].Status == v1beta1.ExecutionComplete && s.Phases[0].Status == v1beta1.ExecutionInProgress
	})
	w.setStatus(deployments, "d", healthy)
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("d") != 1 {
		t.Errorf("applied %v", w.applied)
	}
}

// TestNewest: an informer that is behind does not make a run start from an older state than the one we wrote.
func TestNewest(t *testing.T) {
	w := newWorld(t, "s=a")
	c := New(Config{Kudo: w.kudo, Dynamic: w.dynamic, Discovery: w.disco})
	defer c.queue.ShutDown()
	at := func(version string) *v1beta1.PlanExecution {
		pe := w.run()
		pe.ResourceVersion = version
		return pe
	}
	r := &run{uid: "ruid", latest: at("10")}
	for cached, want := range map[string]string{"9": "10", "10": "10", "11": "11"} {
		r.latest = at("10")
		if got, err := c.newest(context.Background(), r, at(cached)); err != nil || got.ResourceVersion != want || r.latest.ResourceVersion != want {
			t.Errorf("cached %s: got %v %v", cached, got, err)
		}
	}
	r.latest = nil
	if got, err := c.newest(context.Background(), r, at("9")); err != nil || got.ResourceVersion != "1" {
		t.Errorf("the first time the server is asked: %v %v", got, err)
	}
}
