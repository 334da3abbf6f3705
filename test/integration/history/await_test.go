// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// quick is an operator whose plans end at once, well or not, and one whose plan waits.
func quick() lab.Operator {
	return lab.Operator{
		Plans: map[string]v1beta1.Plan{"well": lab.Serial("done"), "badly": lab.Serial("missing"), "hold": lab.Serial("hold")},
		Tasks: []v1beta1.Task{lab.Done("done"), lab.Hold("hold")},
	}
}

// ran runs a plan of the Instance so many times and returns the names of the runs, the oldest first.
func ran(t *testing.T, l *lab.Lab, ns, plan string, times int) []string {
	t.Helper()
	want := map[string]v1beta1.ExecutionStatus{"well": v1beta1.ExecutionComplete, "badly": v1beta1.ExecutionFatalError}[plan]
	var names []string
	for range times {
		pe, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).Create(t.Context(), &v1beta1.PlanExecution{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%03d", plan, len(names))}, Spec: v1beta1.PlanExecutionSpec{InstanceName: "sample", PlanName: plan}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, l, pe, want)
		names = append(names, pe.Name)
	}
	return names
}

// ended waits until the Instance knows how the run ended. The run itself may be gone by then.
func ended(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, want v1beta1.ExecutionStatus) {
	t.Helper()
	i := l.Instance(t, pe.Namespace, "sample", "to know of the end of "+pe.Name, func(i *v1beta1.Instance) bool {
		return i.Spec.PlanExecution.UID == "" && i.Status.PlanStatus[pe.Spec.PlanName].UID == pe.UID
	})
	if got := i.Status.PlanStatus[pe.Spec.PlanName]; got.Status != want {
		t.Fatalf("%s ended with %s, want %s: %s", pe.Name, got.Status, want, got.Message)
	}
}

// stored waits until exactly these runs of the Instance are stored, beside that of the plan deploy.
func stored(t *testing.T, l *lab.Lab, ns string, want ...string) []v1beta1.PlanExecution {
	t.Helper()
	slices.Sort(want)
	var names []string
	runs := until(t, l, ns, func(runs []v1beta1.PlanExecution) bool {
		names = nil
		for _, run := range runs {
			if run.Spec.PlanName != v1beta1.DeployPlanName {
				names = append(names, run.Name)
			}
		}
		slices.Sort(names)
		return slices.Equal(names, want)
	}, func() string { return fmt.Sprintf("runs %v, want %v", names, want) })
	return runs
}

// until waits until the runs of the Instance are as enough says.
func until(t *testing.T, l *lab.Lab, ns string, enough func([]v1beta1.PlanExecution) bool, what func() string) []v1beta1.PlanExecution {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
	defer cancel()
	client := l.Kudo.KudoV1beta1().PlanExecutions(ns)
	for ctx.Err() == nil {
		options := metav1.ListOptions{FieldSelector: v1beta1.InstanceNameField + "=sample"}
		list, err := client.List(ctx, options)
		if err != nil {
			continue // the server is away
		}
		if enough(list.Items) {
			return list.Items
		}
		options.ResourceVersion = list.ResourceVersion
		w, err := client.Watch(ctx, options)
		if err != nil {
			continue
		}
		<-w.ResultChan() // something happened, or the watch is over
		w.Stop()
	}
	t.Fatalf("%v: %s", context.Cause(ctx), what())
	return nil
}

// patch changes the Instance.
func patch(t *testing.T, l *lab.Lab, ns, body string) *v1beta1.Instance {
	t.Helper()
	t.Logf("the Instance is patched with %s", body)
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, []byte(body), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}
