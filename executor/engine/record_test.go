// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func TestTasksOfAStep(t *testing.T) {
	s := started(t, "serial", "p: s=a,b")
	r := Result{Tasks: []TaskResult{{Task: "a", Outcome: Waiting, Message: "1 of 3 replicas ready"}, {Task: "b", Outcome: Done}}}
	if Record(s, "deploy", ref("p.s"), r, t0); tree(s) != "I I(I)" {
		t.Fatalf("got %s", tree(s))
	}
	step := Step(s, ref("p.s"))
	if step.Tasks[0].Status != v1beta1.ExecutionInProgress || step.Tasks[1].Status != v1beta1.ExecutionComplete {
		t.Errorf("tasks: %v", step.Tasks)
	}
	if !strings.Contains(step.Message, "task a: 1 of 3 replicas ready") {
		t.Errorf("message: %q", step.Message)
	}
	Advance(s, false, t0)
	if !strings.Contains(s.Message, "p.s: task a: 1 of 3") {
		t.Errorf("plan message: %q", s.Message)
	}
	again := Result{Tasks: r.Tasks[:1]}
	if changes(s, func() {
		Record(s, "deploy", ref("p.s"), again, t0.Add(time.Hour))
		Advance(s, false, t0.Add(time.Hour))
	}) {
		t.Error("the same report changed the status, which would be written again and again")
	}
	Record(s, "deploy", ref("p.s"), report("a", Done), t0.Add(time.Hour))
	Advance(s, false, t0.Add(time.Hour))
	if tree(s) != "C C(C)" || s.Message != "" || !meta.IsStatusConditionTrue(s.Conditions, v1beta1.CompleteConditionType) {
		t.Errorf("got %s %+v", tree(s), s)
	}
	if !s.StartTime.Time.Equal(t0) || !s.CompletionTime.Time.Equal(t0.Add(time.Hour)) {
		t.Errorf("times: %v %v", s.StartTime, s.CompletionTime)
	}
}

func TestRetry(t *testing.T) {
	s := started(t, "serial", "p: s=a t=a")
	now := t0.Add(300 * time.Millisecond)
	var delays []time.Duration
	for i := range 8 {
		if got := runnable(s, now); got != "p.s" {
			t.Fatalf("try %d: runnable %q", i, got)
		}
		Record(s, "deploy", ref("p.s"), report("a", Retry), now)
		step := Step(s, ref("p.s"))
		next := step.NextAttemptTime.Time
		if step.Attempts != int32(i+1) || !strings.Contains(step.Message, "task a: because; will retry at "+next.UTC().Format(time.RFC3339)) {
			t.Fatalf("try %d: %+v", i, step)
		}
		if runnable(s, now) != "" || !NextTime(&v1beta1.PlanExecutionSpec{}, s).Equal(next) {
			t.Fatalf("try %d: not held until %v", i, next)
		}
		delays = append(delays, next.Sub(now))
		now = next
	}
	if delays[0] < time.Second || delays[0] > 2*time.Second || delays[7] != 60*time.Second {
		t.Errorf("delays: %v", delays)
	}
	Record(s, "deploy", ref("p.s"), report("a", Done), now)
	Advance(s, false, now)
	if tree(s) != "I I(CI)" || Step(s, ref("p.s")).NextAttemptTime != nil || Step(s, ref("p.s")).Attempts != 9 {
		t.Errorf("got %s %+v", tree(s), Step(s, ref("p.s")))
	}
}

func TestRetryAfterOfAServer(t *testing.T) {
	s := started(t, "serial", "p: s=a")
	Record(s, "deploy", ref("p.s"), Result{Tasks: []TaskResult{{Task: "a", Outcome: Retry, RetryAfter: 20 * time.Second}}}, t0)
	if got := Step(s, ref("p.s")).NextAttemptTime.Sub(t0); got != 20*time.Second {
		t.Errorf("got %v", got)
	}
}

func TestBackoff(t *testing.T) {
	for attempts, want := range map[int32]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 6: 32 * time.Second, 7: time.Minute, 1000: time.Minute,
	} {
		lo, hi := Backoff(attempts, 0.999), Backoff(attempts, 0)
		if hi != want || lo < hi*3/4 || lo >= hi {
			t.Errorf("%d: %v..%v", attempts, lo, hi)
		}
	}
}

func TestFatalEndsTheRun(t *testing.T) {
	s := started(t, "serial", "p/parallel: s=a t=a u=a v=a", "q: w=a")
	Record(s, "deploy", ref("p.u"), report("a", Retry), t0)
	Record(s, "deploy", ref("p.s"), report("a", Fatal), t0)
	Record(s, "deploy", ref("p.t"), report("a", Done), t0)
	Record(s, "deploy", ref("p.v"), report("a", Retry), t0)
	Advance(s, false, t0)
	// What was under way has ended with the run, with what it waited for; what had not begun has not.
	if got := tree(s); got != "F F(FCFF) P(P)" {
		t.Errorf("got %s", got)
	}
	if u := Step(s, ref("p.u")); u.CompletionTime == nil || !strings.Contains(u.Message, "task a: because") || u.Tasks[0].Status != v1beta1.ExecutionFatalError {
		t.Errorf("a step that was to be tried again: %+v", u)
	}
	if changes(s, func() { Advance(s, false, t0.Add(time.Minute)) }) {
		t.Error("a run that has ended changed")
	}
	c := meta.FindStatusCondition(s.Conditions, v1beta1.FailedConditionType)
	if c == nil || c.Reason != "Why" || c.Message != "deploy.p.s.a: because" || c.Status != metav1.ConditionTrue {
		t.Errorf("condition: %+v", c)
	}
	if Step(s, ref("p.u")).NextAttemptTime != nil || runnable(s, t0.Add(time.Hour)) != "" || s.CompletionTime == nil {
		t.Error("the run has not ended")
	}
}

func TestSuspend(t *testing.T) {
	s := &v1beta1.PlanExecutionStatus{}
	Init(version("serial", "p: s=a t=a"), "deploy", s, t0)
	Advance(s, true, t0)
	if tree(s) != "P P(PP)" || s.StartTime != nil || runnable(s, t0) != "" || !meta.IsStatusConditionTrue(s.Conditions, v1beta1.SuspendedConditionType) {
		t.Fatalf("a run that starts held: %s %+v", tree(s), s)
	}
	if changes(s, func() { Advance(s, true, t0.Add(time.Minute)) }) {
		t.Error("holding on changed something")
	}
	Advance(s, false, t0.Add(time.Hour))
	if tree(s) != "I I(IP)" || !s.StartTime.Time.Equal(t0.Add(time.Hour)) || !meta.IsStatusConditionFalse(s.Conditions, v1beta1.SuspendedConditionType) {
		t.Fatalf("resumed: %s %+v", tree(s), s)
	}
	Advance(s, true, t0)
	if runnable(s, t0) != "p.s" {
		t.Error("a step that has begun was held")
	}
	Record(s, "deploy", ref("p.s"), report("a", Done), t0)
	Advance(s, true, t0)
	if tree(s) != "I I(CP)" || runnable(s, t0) != "" {
		t.Errorf("a step began while held: %s", tree(s))
	}
	Advance(s, false, t0)
	Record(s, "deploy", ref("p.t"), report("a", Done), t0)
	Advance(s, true, t0)
	if tree(s) != "C C(CC)" {
		t.Errorf("a run whose last step ended while held is complete, got %s", tree(s))
	}
}

func TestDeadline(t *testing.T) {
	spec := &v1beta1.PlanExecutionSpec{ActiveDeadlineSeconds: new(int64(30))}
	s := started(t, "serial", "p: s=a t=a")
	Record(s, "deploy", ref("p.s"), Result{Tasks: []TaskResult{{Task: "a", Outcome: Waiting, Message: "2 of 3"}}}, t0)
	if Expire(spec, s, t0.Add(29*time.Second)) {
		t.Error("too early")
	}
	if got := NextTime(spec, s); !got.Equal(t0.Add(30 * time.Second)) {
		t.Errorf("next time %v", got)
	}
	if !Expire(spec, s, t0.Add(30*time.Second)) || tree(s) != "F F(FP)" {
		t.Errorf("got %s", tree(s))
	}
	c := meta.FindStatusCondition(s.Conditions, v1beta1.FailedConditionType)
	if c == nil || c.Reason != ReasonDeadlineExceeded || !strings.Contains(c.Message, "(30)") || !strings.Contains(c.Message, "p.s") || !strings.Contains(c.Message, "2 of 3") {
		t.Errorf("condition %+v", c)
	}
	if Expire(spec, s, t0.Add(time.Hour)) {
		t.Error("ended twice")
	}
}

// TestDeadlineThatIsNone: more seconds than a time.Duration can hold are not a deadline in the past.
func TestDeadlineThatIsNone(t *testing.T) {
	spec := &v1beta1.PlanExecutionSpec{ActiveDeadlineSeconds: new(int64(1e10))}
	s := started(t, "serial", "p: s=a")
	if Expire(spec, s, t0.Add(time.Hour)) || !NextTime(spec, s).After(t0.AddDate(200, 0, 0)) {
		t.Errorf("got %s, next %v", tree(s), NextTime(spec, s))
	}
}

// TestNextTime: the earliest time counts, also when it has passed meanwhile.
func TestNextTime(t *testing.T) {
	spec := &v1beta1.PlanExecutionSpec{ActiveDeadlineSeconds: new(int64(60))}
	s := started(t, "serial", "p/parallel: s=a t=a")
	Record(s, "deploy", ref("p.s"), report("a", Retry), t0.Add(-time.Hour))
	Record(s, "deploy", ref("p.t"), report("a", Retry), t0)
	if got := NextTime(spec, s); !got.Equal(Step(s, ref("p.s")).NextAttemptTime.Time) || !got.Before(t0) {
		t.Errorf("got %v", got)
	}
	Record(s, "deploy", ref("p.s"), report("a", Waiting), t0)
	if got := NextTime(spec, s); !got.Equal(Step(s, ref("p.t")).NextAttemptTime.Time) {
		t.Errorf("a try that is over counts: %v", got)
	}
}

func TestObjectsAreMerged(t *testing.T) {
	obj := func(name string, ready bool) v1beta1.ObjectExecutionStatus {
		return v1beta1.ObjectExecutionStatus{APIVersion: "v1", Kind: "Pod", Name: name, Ready: ready}
	}
	s := started(t, "serial", "p: s=a")
	Record(s, "deploy", ref("p.s"), Result{Tasks: report("a", Waiting).Tasks, Objects: []v1beta1.ObjectExecutionStatus{obj("x", true), obj("y", false)}}, t0)
	Record(s, "deploy", ref("p.s"), Result{Tasks: report("a", Done).Tasks, Objects: []v1beta1.ObjectExecutionStatus{obj("y", true), obj("z", true)}}, t0)
	got := Step(s, ref("p.s")).Objects
	long := obj("x", false)
	long.Message = strings.Repeat("é", maxObjectMessage)
	if got := mergeObjects(got, []v1beta1.ObjectExecutionStatus{long}); len(got) != 3 || len(got[0].Message) > maxObjectMessage+len("…") || !utf8.ValidString(got[0].Message) {
		t.Errorf("a long message was kept: %d bytes", len(got[0].Message))
	}
	if len(got) != 3 || got[0].Name != "x" || got[1].Name != "y" || !got[1].Ready || got[2].Name != "z" {
		t.Errorf("got %v", got)
	}
}
