// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// installPackage installs a package as the Instance "sample" and returns the namespace.
func installPackage(t *testing.T, l *lab.Lab, ns, dir string, args ...string) {
	t.Helper()
	out, err := l.Plugin(t, append([]string{"install", dir, "--instance", "sample", "--wait", "--wait-time", "60", "-n", ns}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out)
	i := l.Unlocked(t, ns, "sample")
	if s := i.Status.PlanStatus["deploy"]; s.Status != v1beta1.ExecutionComplete {
		t.Fatalf("plan deploy: %+v", s)
	}
}

// runPlan triggers a plan as a user does and waits for its end.
func runPlan(t *testing.T, l *lab.Lab, ns, plan string) *v1beta1.PlanExecution {
	t.Helper()
	pe, err := l.Kudo.KudoV1beta1().Instances(ns).CreatePlan(t.Context(), "sample", &v1beta1.PlanTrigger{PlanName: plan}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pe = l.Ended(t, pe, v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	t.Logf("plan %s is complete, %v after its start", plan, pe.Status.CompletionTime.Sub(pe.Status.StartTime.Time))
	return pe
}

// patched changes parameters as a user does and waits for the plan that this starts.
func patched(t *testing.T, l *lab.Lab, ns, patch, plan string) {
	t.Helper()
	if _, err := l.Cluster.Kubectl("patch", "instance", "sample", "-n", ns, "--type=merge", "-p", patch); err != nil {
		t.Fatal(err)
	}
	pe := lab.Holder(l.Instance(t, ns, "sample", "to run plan "+plan, func(i *v1beta1.Instance) bool {
		return i.Spec.PlanExecution.PlanName == plan || i.Spec.PlanExecution.UID == "" && i.Status.PlanStatus[plan].UID != ""
	}))
	if pe.Name != "" {
		l.Ended(t, pe, v1beta1.ExecutionComplete)
	}
	i := l.Unlocked(t, ns, "sample")
	if s := i.Status.PlanStatus[plan]; s.Status != v1beta1.ExecutionComplete {
		t.Errorf("plan %s: %+v", plan, s)
	}
}

func replicas(n int64) func(*unstructured.Unstructured) bool {
	return func(obj *unstructured.Unstructured) bool {
		if obj == nil {
			return false
		}
		want, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
		have, _, _ := unstructured.NestedInt64(obj.Object, "status", "readyReplicas")
		return want == n && have == n
	}
}

func example(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(lab.Root(t), "artifacts", "operators", name)
}

// TestFirstOperator: the smallest example is installed, and a parameter changes what runs.
func TestFirstOperator(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	installPackage(t, l, ns, example(t, "first-operator"))
	l.Object(t, lab.Deployments, ns, "sample", "to have 2 replicas", replicas(2))
	patched(t, l, ns, `{"spec":{"parameters":{"replicas":"3"}}}`, "update")
	l.Object(t, lab.Deployments, ns, "sample", "to have 3 replicas", replicas(3))
	runPlan(t, l, ns, "update")
}

// TestKeyvalue: every plan of the larger example runs to its end.
func TestKeyvalue(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	installPackage(t, l, ns, example(t, "keyvalue"), "-p", "password=secret")
	l.Object(t, lab.StatefulSets, ns, "sample", "to have 3 replicas", replicas(3))
	for _, plan := range []string{"backup", "restore", "backup", "update"} {
		runPlan(t, l, ns, plan)
		l.Object(t, lab.StatefulSets, ns, "sample", "to have 3 replicas", replicas(3))
	}
	patched(t, l, ns, `{"spec":{"parameters":{"nodes":"2","disruptionBudget":"false"}}}`, "update")
	l.Object(t, lab.StatefulSets, ns, "sample", "to have 2 replicas", replicas(2))
	if list, err := l.Kube.PolicyV1().PodDisruptionBudgets(ns).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("the disruption budget that was switched off: %v, %v", list.Items, err)
	}
	before := l.Unlocked(t, ns, "sample").Status.PlanStatus["backup"].UID
	if _, err := l.Cluster.Kubectl("patch", "instance", "sample", "-n", ns, "--type=merge", "-p", `{"spec":{"parameters":{"backupName":"monday"}}}`); err != nil {
		t.Fatal(err)
	}
	l.Instance(t, ns, "sample", "to have run the plan that its parameter names", func(i *v1beta1.Instance) bool {
		s := i.Status.PlanStatus["backup"]
		return s.UID != before && s.Status == v1beta1.ExecutionComplete && i.Spec.PlanExecution.UID == ""
	})
	if _, err := l.Cluster.Kubectl("delete", "instance", "sample", "-n", ns, "--timeout=60s"); err != nil {
		t.Error(err) // it goes when its cleanup is complete
	}
	for _, name := range []string{"data-sample-0", "data-sample-1"} {
		l.Object(t, lab.Claims, ns, name, "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
	}
}
