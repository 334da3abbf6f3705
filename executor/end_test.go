// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/watch"
)

// controller makes one that does not run.
func (w *world) controller() *Controller {
	w.t.Helper()
	c := New(Config{Kudo: w.kudo, Dynamic: w.dynamic, Discovery: w.disco})
	ctx, cancel := context.WithCancel(context.Background())
	c.hub = watch.New(ctx, w.dynamic, func(string) {})
	w.t.Cleanup(func() { cancel(); c.hub.Wait(); c.queue.ShutDown(); c.readiness.ShutDown() })
	return c
}

// TestStatusRefused: a run whose status the server never takes ends, so that its Instance is not locked for ever.
func TestStatusRefused(t *testing.T) {
	for name, answer := range map[string]error{
		"too large":          apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
		"too large for etcd": apierrors.NewInternalError(errors.New("etcdserver: request is too large")),
		"invalid":            apierrors.NewInvalid(schema.GroupKind{Kind: "PlanExecution"}, "run", nil),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s=a", "t=b")
			w.kudo.PrependReactor("update", "planexecutions", func(action clienttesting.Action) (bool, runtime.Object, error) {
				s := action.(clienttesting.UpdateAction).GetObject().(*v1beta1.PlanExecution).Status
				return s.Phases[0].Steps[0].Status == v1beta1.ExecutionComplete, nil, answer
			})
			defer w.start()()
			w.waitStatus(v1beta1.ExecutionFatalError)
			c := meta.FindStatusCondition(w.run().Status.Conditions, v1beta1.FailedConditionType)
			if c == nil || c.Reason != engine.ReasonStatusRefused || !strings.Contains(c.Message, "cannot be stored") || w.count("b") != 0 {
				t.Errorf("condition %+v", c)
			}
		})
	}
}

// TestFailedDeletion: a run that cannot be deleted is not forgotten, so that its error is logged once.
func TestFailedDeletion(t *testing.T) {
	w := newWorld(t, "s=a")
	c := w.controller()
	fail := true
	w.kudo.PrependReactor("delete", "planexecutions", func(clienttesting.Action) (bool, runtime.Object, error) { return fail, nil, errors.New("no") })
	pe := w.run()
	pe.Spec.TTLSecondsAfterFinished, pe.Status.CompletionTime = new(int32(0)), new(metav1.NewTime(time.Now().Add(-time.Minute)))
	c.runOf("ns/run", pe.UID)
	if err := c.finish(context.Background(), "ns/run", pe); err == nil || c.runs["ns/run"] == nil {
		t.Errorf("error %v, runs %v", err, c.runs)
	}
	fail = false
	if err := c.finish(context.Background(), "ns/run", pe); err != nil || c.runs["ns/run"] != nil {
		t.Errorf("error %v, runs %v", err, c.runs)
	}
}

// TestDueDuringThePass: what fell due while others were carried out is not left to the safety net.
func TestDueDuringThePass(t *testing.T) {
	w := newWorld(t, "s=a")
	c := w.controller()
	pe := w.run()
	step := v1beta1.StepExecutionStatus{Name: "s", Status: v1beta1.ErrorStatus, NextAttemptTime: new(metav1.NewTime(time.Now().Add(-time.Second)))}
	pe.Status = v1beta1.PlanExecutionStatus{Status: v1beta1.ExecutionInProgress, Phases: []v1beta1.PhaseExecutionStatus{{Name: "p", Steps: []v1beta1.StepExecutionStatus{step}}}}
	c.wakeLater("ns/run", pe, 0)
	if c.queue.Len() != 1 {
		t.Error("the run waits")
	}
}

// TestTrim: of runs that have ended only what their deletion needs is kept, and nothing is taken from the object itself.
func TestTrim(t *testing.T) {
	run := func(s v1beta1.ExecutionStatus) *v1beta1.PlanExecution {
		return &v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Name: "run", ManagedFields: []metav1.ManagedFieldsEntry{{}}},
			Spec:   v1beta1.PlanExecutionSpec{InstanceName: "zk", Parameters: map[string]string{"a": "b"}, InstanceParameters: map[string]string{"a": "b"}, TTLSecondsAfterFinished: new(int32(1))},
			Status: v1beta1.PlanExecutionStatus{Status: s, CompletionTime: &metav1.Time{}, Phases: []v1beta1.PhaseExecutionStatus{{Name: "p"}}}}
	}
	ended, open := run(v1beta1.ExecutionComplete), run(v1beta1.ExecutionInProgress)
	wantEnded, wantOpen := run(v1beta1.ExecutionComplete), run(v1beta1.ExecutionInProgress)
	wantEnded.ManagedFields, wantOpen.ManagedFields = nil, nil
	wantEnded.Spec.Parameters, wantEnded.Spec.InstanceParameters, wantEnded.Status.Phases = nil, nil, nil
	for in, want := range map[*v1beta1.PlanExecution]*v1beta1.PlanExecution{ended: wantEnded, open: wantOpen} {
		before := in.DeepCopy()
		got := trim(in)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(in, before) {
			t.Errorf("got %+v", got)
		}
	}
}
