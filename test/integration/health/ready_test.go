// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// ready waits until the condition Ready of the Instance "sample" has the status, and all parts are in its message.
func ready(t *testing.T, l *lab.Lab, ns string, status metav1.ConditionStatus, parts ...string) *metav1.Condition {
	t.Helper()
	var c *metav1.Condition
	l.Instance(t, ns, "sample", fmt.Sprintf("to be %s: %q", status, parts), func(i *v1beta1.Instance) bool {
		c = meta.FindStatusCondition(i.Status.Conditions, v1beta1.ReadyConditionType)
		return c != nil && c.Status == status && c.ObservedGeneration == i.Generation && i.Spec.PlanExecution.UID == "" &&
			!slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(c.Message, p) })
	})
	return c
}

// pod patches the status of the one pod of an app.
func pod(t *testing.T, l *lab.Lab, ns, app, status string) {
	t.Helper()
	p := l.Selected(t, lab.Pods, ns, metav1.ListOptions{LabelSelector: "app=" + app}, "of "+app, func(obj *unstructured.Unstructured) bool {
		return obj != nil && obj.GetDeletionTimestamp() == nil
	})
	if _, err := l.Kube.CoreV1().Pods(ns).Patch(t.Context(), p.GetName(), types.StrategicMergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// TestReadyFollowsTheObjects: after a plan, whatever happens to the objects that it applied shows in the condition, also across the end of an executor.
func TestReadyFollowsTheObjects(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("all"), "drop": lab.Serial("drop")},
		Tasks: []v1beta1.Task{lab.Apply("all", "d", "c", "extra", "j"), lab.Delete("drop", "extra")},
		Templates: map[string]string{"d": lab.Workload("Deployment", "d", ""), "c": lab.ConfigMap("c", "v"), "extra": lab.ConfigMap("extra", "v"),
			"j": lab.Job("j", "")},
	})
	if c := ready(t, l, ns, metav1.ConditionTrue); c.Reason != "ResourcesReady" || c.Message != "" {
		t.Errorf("condition %+v", c)
	}
	t.Log("a pod becomes unready, and ready again")
	pod(t, l, ns, "d", `{"conditions":[{"type":"Ready","status":"False"}]}`)
	first := ready(t, l, ns, metav1.ConditionFalse, "Deployment "+ns+"/d: 0 of 1 replicas available")
	if first.Reason != "ResourceNotReady" || first.LastTransitionTime.IsZero() {
		t.Errorf("condition %+v", first)
	}
	pod(t, l, ns, "d", `{"conditions":[{"type":"Ready","status":"True"}]}`)
	ready(t, l, ns, metav1.ConditionTrue)

	t.Log("an object is deleted by somebody while no executor is there")
	if err := l.KUDO.KillExecutor(); err != nil {
		t.Fatal(err)
	}
	if err := l.Kube.CoreV1().ConfigMaps(ns).Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.KUDO.StartExecutor(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(t, l, ns, metav1.ConditionFalse, "ConfigMap "+ns+"/c: not found")
	l.Ended(t, l.Trigger(t, ns, "deploy"), v1beta1.ExecutionComplete)
	ready(t, l, ns, metav1.ConditionTrue)

	t.Log("what a plan deletes, and a Job that is gone, are not missing")
	l.Ended(t, l.Trigger(t, ns, "drop"), v1beta1.ExecutionComplete)
	if err := l.Kube.BatchV1().Jobs(ns).Delete(t.Context(), "j", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	pod(t, l, ns, "d", `{"conditions":[{"type":"Ready","status":"False"}]}`)
	// While the Job goes it is worth a word.
	l.Instance(t, ns, "sample", "to be not ready for its Deployment alone", func(i *v1beta1.Instance) bool {
		c := meta.FindStatusCondition(i.Status.Conditions, "Ready")
		return c != nil && c.Status == metav1.ConditionFalse && strings.Contains(c.Message, "Deployment") && !strings.Contains(c.Message, "extra") && !strings.Contains(c.Message, "Job")
	})
	pod(t, l, ns, "d", `{"conditions":[{"type":"Ready","status":"True"}]}`)
	ready(t, l, ns, metav1.ConditionTrue)

	t.Log("kubectl waits for it, and a rollout by somebody else shows, with the reason")
	if out, err := l.Cluster.Kubectl("wait", "-n", ns, "--for=condition=Ready", "--timeout=60s", "instance/sample"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	patch := `{"spec":{"template":{"spec":{"nodeSelector":{"no-node-has":"it"}}}}}`
	if _, err := l.Kube.AppsV1().Deployments(ns).Patch(t.Context(), "d", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ready(t, l, ns, metav1.ConditionFalse, "Deployment "+ns+"/d: ", "Pod d-", "Unschedulable: 0/1 nodes are available")
}

// TestNobodyElseWritesTheStatus: who may change an Instance cannot make it ready.
func TestNobodyElseWritesTheStatus(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, lab.Operator{Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("c")}, Tasks: []v1beta1.Task{lab.Apply("c", "c")}, Templates: map[string]string{"c": lab.ConfigMap("c", "v")}})
	if _, err := l.Cluster.Kubectl("create", "rolebinding", "-n", ns, "alice", "--clusterrole=admin", "--user="+cluster.Alice); err != nil {
		t.Fatal(err)
	}
	forged := `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"Forged","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`
	if out, err := l.Cluster.Kubectl("--as="+cluster.Alice, "patch", "-n", ns, "instance", "sample", "--subresource=status", "--type=merge", "-p", forged); err == nil {
		t.Errorf("a user wrote the status: %s", out)
	}
	if _, err := l.Cluster.Kubectl("--as="+cluster.Alice, "patch", "-n", ns, "instance", "sample", "--type=merge", "-p", forged); err != nil {
		t.Error(err)
	}
	if c := ready(t, l, ns, metav1.ConditionTrue); c.Reason != "ResourcesReady" {
		t.Errorf("condition %+v", c)
	}
}
