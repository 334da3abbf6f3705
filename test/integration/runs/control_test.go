// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// twoSteps is an operator whose plan "work" waits for a node and then makes a ConfigMap; "hold" waits for ever.
func twoSteps(label string) lab.Operator {
	return lab.Operator{
		Plans:     map[string]v1beta1.Plan{"work": lab.Serial("first", "second"), "hold": lab.Serial("hold"), "quick": lab.Serial("second")},
		Tasks:     []v1beta1.Task{lab.Apply("first", "first"), lab.Apply("second", "second"), lab.Hold("hold")},
		Templates: map[string]string{"first": lab.Workload("Deployment", "first", label), "second": lab.ConfigMap("second", "")},
	}
}

func suspend(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, value string) {
	t.Helper()
	t.Logf("suspend is set to %s", value)
	if _, err := l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Patch(t.Context(), pe.Name, types.MergePatchType, []byte(`{"spec":{"suspend":`+value+`}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func suspended(pe *v1beta1.PlanExecution) bool {
	return meta.IsStatusConditionTrue(pe.Status.Conditions, v1beta1.SuspendedConditionType)
}

// TestSuspend: a run that is held begins no step, finishes the one it is in, and goes on when it is let go.
func TestSuspend(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, twoSteps("test/"+ns))
	pe := l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "work", Suspend: true})
	held := l.Run(t, pe, "to be suspended", suspended)
	if held.Status.StartTime != nil || held.Status.Status != v1beta1.ExecutionPending || held.Status.Message == "" {
		t.Errorf("held before its start: %+v", held.Status)
	}
	suspend(t, l, pe, "false")
	waiting(t, l, pe, "first", "0 of 1 replicas available")
	suspend(t, l, pe, "true")
	l.Run(t, pe, "to be suspended", suspended)
	l.Allow(t, "test/"+ns)
	held = l.Run(t, pe, "to finish the step it is in", func(pe *v1beta1.PlanExecution) bool {
		return lab.Step(t, pe, "first").Status == v1beta1.ExecutionComplete
	})
	if s := lab.Step(t, held, "second"); s.Status != v1beta1.ExecutionPending || s.StartTime != nil || !suspended(held) {
		t.Errorf("held in the middle: %+v", held.Status)
	}
	suspend(t, l, pe, "false")
	pe = l.Ended(t, pe, v1beta1.ExecutionComplete)
	if cond := meta.FindStatusCondition(pe.Status.Conditions, v1beta1.SuspendedConditionType); cond == nil || cond.Status != metav1.ConditionFalse {
		t.Errorf("condition Suspended: %+v", cond)
	}
}

// TestDeadline: a run that takes too long ends with that reason and what it waited for.
func TestDeadline(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, twoSteps("test/"+ns))
	pe := l.Ended(t, l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "work", ActiveDeadlineSeconds: new(int64(2))}), v1beta1.ExecutionFatalError)
	failed(t, l, pe, "DeadlineExceeded", "activeDeadlineSeconds (2)", "main.first", "0 of 1 replicas available")
	if took := pe.Status.CompletionTime.Sub(pe.Status.StartTime.Time); took < 2*time.Second || took > 2*time.Second+reaction {
		t.Errorf("ended after %v", took)
	}
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
}

// TestTimeToLive: a finished run is deleted after its time; the Instance still knows how it went.
func TestTimeToLive(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, twoSteps("test/"+ns))
	pe := l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "quick", TTLSecondsAfterFinished: new(int32(1))})
	ended := l.Ended(t, pe, v1beta1.ExecutionComplete)
	l.Object(t, lab.Executions, ns, pe.Name, "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
	if took := time.Since(ended.Status.CompletionTime.Time); took < time.Second || took > time.Second+reaction {
		t.Errorf("gone %v after its end", took)
	}
	if s := l.Unlocked(t, ns, "sample").Status.PlanStatus["quick"]; s.Status != v1beta1.ExecutionComplete || s.UID != pe.UID {
		t.Errorf("status of the plan: %+v", s)
	}
}

// TestDeleteRun: deleting a run that has not ended ends it and releases the Instance.
func TestDeleteRun(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, twoSteps("test/"+ns))
	for _, plan := range []string{"hold", "work", "hold"} {
		pe := l.Trigger(t, ns, plan)
		l.Run(t, pe, "to begin", func(pe *v1beta1.PlanExecution) bool { return pe.Status.Status == v1beta1.ExecutionInProgress })
		if err := l.Kudo.KudoV1beta1().PlanExecutions(ns).Delete(t.Context(), pe.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		event := time.Now()
		i := l.Unlocked(t, ns, "sample")
		if took := time.Since(event); took > reaction {
			t.Errorf("released after %v", took)
		}
		if s := i.Status.PlanStatus[plan]; s.Status != v1beta1.ExecutionFatalError || s.UID != pe.UID || s.Message == "" {
			t.Errorf("status of the plan: %+v", s)
		}
	}
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
}

// TestDeleteInstance: an Instance that is deleted during a run takes the run and all that was made with it.
func TestDeleteInstance(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, twoSteps("test/"+ns))
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	pe := l.Trigger(t, ns, "work")
	waiting(t, l, pe, "first", "0 of 1 replicas available")
	if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone := func(obj *unstructured.Unstructured) bool { return obj == nil }
	event := time.Now()
	l.Object(t, lab.Instances, ns, "sample", "to be gone", gone)
	l.Object(t, lab.Deployments, ns, "first", "to be gone", gone)
	l.Object(t, lab.ConfigMaps, ns, "second", "to be gone", gone)
	l.Object(t, lab.Executions, ns, pe.Name, "to be gone", gone)
	for _, gvr := range []string{"planexecutions", "operatorversionrevisions"} {
		l.Selected(t, v1beta1.SchemeGroupVersion.WithResource(gvr), ns, metav1.ListOptions{}, "to be gone", gone)
	}
	t.Logf("all gone after %v", time.Since(event).Round(time.Millisecond))
	t.Log("a new Instance of the same name knows nothing of the old one")
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Create(t.Context(), &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: ns},
		Spec: v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: "op"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.Ended(t, lab.Holder(i), v1beta1.ExecutionComplete)
	if i := l.Unlocked(t, ns, "sample"); len(i.Status.PlanStatus) != 1 {
		t.Errorf("status: %+v", i.Status)
	}
}
