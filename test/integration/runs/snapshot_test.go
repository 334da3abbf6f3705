// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestSnapshot: a run that waits while its OperatorVersion is changed or deleted ends with what it started with; the next
// run works with what is there then.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	for _, deleted := range []bool{false, true} {
		name := map[bool]string{false: "changed", true: "deleted"}[deleted]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			pe := l.Install(t, ns, lab.Operator{
				Plans:      map[string]v1beta1.Plan{"deploy": lab.Serial("wait", "result"), "update": lab.Serial("result")},
				Tasks:      []v1beta1.Task{lab.Apply("wait", "wait"), lab.Apply("result", "result")},
				Templates:  map[string]string{"wait": lab.Workload("Deployment", "wait", "test/"+ns), "result": lab.ConfigMap("result", "first {{ .Params.p }} {{ .OperatorVersion }}")},
				Parameters: []v1beta1.Parameter{lab.Parameter("p", "default")},
			}, map[string]string{"p": "given"})
			waiting(t, l, pe, "wait", "0 of 1 replicas available")
			versions := l.Kudo.KudoV1beta1().OperatorVersions(ns)
			t.Logf("the OperatorVersion is %s", name)
			if deleted {
				if err := versions.Delete(t.Context(), "op", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			} else {
				ov, err := versions.Get(t.Context(), "op", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				ov.Spec.Version = "2.0.0"
				ov.Spec.Templates = map[string]string{"wait": lab.ConfigMap("wait", ""), "result": lab.ConfigMap("result", "second {{ .Params.p }} {{ .OperatorVersion }}")}
				ov.Spec.Plans["deploy"] = lab.Serial("result", "other=result")
				if _, err := versions.Update(t.Context(), ov, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, []byte(`{"spec":{"parameters":{"p":"late"}}}`), metav1.PatchOptions{}); !apierrors.IsConflict(err) && (!deleted || !apierrors.IsInvalid(err)) {
				t.Errorf("a change of a parameter during the run: %v", err)
			}
			l.Allow(t, "test/"+ns)
			pe = l.Ended(t, pe, v1beta1.ExecutionComplete)
			lab.Step(t, pe, "wait")
			result(t, l, ns, "first given 1.0.0")
			l.Unlocked(t, ns, "sample")
			if deleted {
				_, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).Create(t.Context(), &v1beta1.PlanExecution{Spec: v1beta1.PlanExecutionSpec{InstanceName: "sample", PlanName: "deploy"}}, metav1.CreateOptions{})
				if !apierrors.IsInvalid(err) {
					t.Errorf("a run without OperatorVersion: %v", err)
				}
				return
			}
			l.Ended(t, l.Trigger(t, ns, "deploy"), v1beta1.ExecutionComplete)
			result(t, l, ns, "second given 2.0.0")
		})
	}
}

// TestParametersOfARun: parameters of one run reach its templates and nothing else.
func TestParametersOfARun(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Ended(t, l.Install(t, ns, lab.Operator{
		Plans:      map[string]v1beta1.Plan{"deploy": lab.Serial("result")},
		Tasks:      []v1beta1.Task{lab.Apply("result", "result")},
		Templates:  map[string]string{"result": lab.ConfigMap("result", "{{ .Params.a }} {{ .Params.b }} {{ .Params.c }}")},
		Parameters: []v1beta1.Parameter{lab.Parameter("a", "a0"), lab.Parameter("b", "b0"), lab.Parameter("c", "c0")},
	}, map[string]string{"b": "b1", "c": "c1"}), v1beta1.ExecutionComplete)
	result(t, l, ns, "a0 b1 c1")
	before := l.Unlocked(t, ns, "sample")
	pe := l.Ended(t, l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "deploy", Parameters: map[string]string{"a": "a2", "c": "c2"}}), v1beta1.ExecutionComplete)
	result(t, l, ns, "a2 b1 c2")
	after := l.Unlocked(t, ns, "sample")
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the run changed the Instance (-before +after):\n%s", diff)
	}
	if pe.Spec.Parameters["a"] != "a2" || pe.Spec.InstanceParameters["c"] != "c1" {
		t.Errorf("the run: %+v", pe.Spec)
	}
	l.Ended(t, l.Trigger(t, ns, "deploy"), v1beta1.ExecutionComplete)
	result(t, l, ns, "a0 b1 c1")
}

func result(t *testing.T, l *lab.Lab, ns, want string) {
	t.Helper()
	cm, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "result", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if cm.Data["value"] != want {
		t.Errorf("the result is %q, want %q", cm.Data["value"], want)
	}
}
