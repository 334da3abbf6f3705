// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestMirror: the Instance shows how its run stands, as KUDO's clients read it, from the first moment to the last.
func TestMirror(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	o := twoSteps("test/" + ns)
	o.Plans["deploy"] = o.Plans["work"]
	pe := l.Install(t, ns, o, nil)

	waiting(t, l, pe, "first", "0 of 1 replicas available")
	i := l.Instance(t, ns, "sample", "to say what its run waits for", func(i *v1beta1.Instance) bool {
		phases := i.Status.PlanStatus["deploy"].Phases
		return len(phases) == 1 && strings.Contains(phases[0].Steps[0].Message, "0 of 1 replicas available")
	})
	s := i.Status.PlanStatus["deploy"]
	if i.Spec.PlanExecution.UID != pe.UID || i.Spec.PlanExecution.PlanName != "deploy" || i.Spec.PlanExecution.Status != v1beta1.ExecutionInProgress || s.UID != pe.UID || s.Status != v1beta1.ExecutionInProgress {
		t.Errorf("of run %s the Instance says %+v, %+v", pe.UID, i.Spec.PlanExecution, s)
	}
	want := []v1beta1.StepStatus{{Name: "first", Status: v1beta1.ExecutionInProgress, Message: s.Phases[0].Steps[0].Message}, {Name: "second", Status: v1beta1.ExecutionPending}}
	if diff := cmp.Diff(want, s.Phases[0].Steps); diff != "" {
		t.Error(diff)
	}
	if cond := meta.FindStatusCondition(i.Status.Conditions, v1beta1.ReadyConditionType); cond == nil || cond.Status == metav1.ConditionTrue {
		t.Errorf("Ready during deploy: %+v", cond)
	}

	t.Log("the run ends; every state of the Instance until then is looked at")
	l.Allow(t, "test/"+ns)
	ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
	defer cancel()
	order := []v1beta1.ExecutionStatus{v1beta1.ExecutionPending, v1beta1.ExecutionInProgress, v1beta1.ExecutionComplete}
	last := map[string]int{}
	err := lab.Follow(ctx, l.Dynamic.Resource(lab.Instances).Namespace(ns), metav1.ListOptions{}, func(obj *unstructured.Unstructured, _ bool) bool {
		i := lab.Decode[v1beta1.Instance](t, obj)
		s := i.Status.PlanStatus["deploy"]
		for _, step := range s.Phases[0].Steps {
			at := slices.Index(order, step.Status)
			if at < last[step.Name] {
				t.Errorf("step %s was %s and is %s", step.Name, order[last[step.Name]], step.Status)
			}
			last[step.Name] = at
		}
		locked := i.Spec.PlanExecution.UID != ""
		if locked == s.Status.IsTerminal() {
			t.Errorf("plan is %s with the lock %+v", s.Status, i.Spec.PlanExecution)
		}
		return !locked
	})
	if err != nil {
		t.Fatal(err)
	}
	i = l.Unlocked(t, ns, "sample")
	if !meta.IsStatusConditionTrue(i.Status.Conditions, v1beta1.ReadyConditionType) {
		t.Errorf("conditions after deploy: %+v", i.Status.Conditions)
	}
	if diff := cmp.Diff(v1beta1.InstancePlanExecution{}, i.Spec.PlanExecution); diff != "" {
		t.Error(diff)
	}
}

// TestOldClients: KUDO's own clients read the fields they know and start a plan as they always did.
func TestOldClients(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, twoSteps("test/"+ns))
	if _, err := l.Cluster.Kubectl("patch", "instance", "sample", "-n", ns, "--type=merge", "-p", `{"spec":{"planExecution":{"planName":"quick"}}}`); err != nil {
		t.Fatal(err)
	}
	i := l.Instance(t, ns, "sample", "to have run the plan", func(i *v1beta1.Instance) bool {
		return i.Status.PlanStatus["quick"].Status == v1beta1.ExecutionComplete
	})
	pe, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.planName=quick"})
	if err != nil || len(pe.Items) != 1 || pe.Items[0].UID != i.Status.PlanStatus["quick"].UID {
		t.Errorf("runs: %+v, %v", pe.Items, err)
	}
	text, err := l.Cluster.Kubectl("get", "instance", "sample", "-n", ns, "-o", "jsonpath={.status.planStatus.quick}")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Phases []struct{ Steps []map[string]any }
	}
	var fields map[string]any
	if err := errors.Join(json.Unmarshal([]byte(text), &fields), json.Unmarshal([]byte(text), &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lastUpdatedTimestamp", "name", "phases", "status", "uid"}, slices.Sorted(maps.Keys(fields))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]map[string]any{{"name": "second", "status": "COMPLETE"}}, got.Phases[0].Steps); diff != "" {
		t.Error(diff)
	}
	if _, err := l.Plugin(t, "plan", "status", "--instance", "sample", "-n", ns); err != nil {
		t.Error(err)
	}
}
