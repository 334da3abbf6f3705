// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// changed sets the parameter VALUE and returns the run that holds the Instance then.
func changed(t *testing.T, l *lab.Lab, ns, value string) *v1beta1.PlanExecution {
	t.Helper()
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, []byte(`{"spec":{"parameters":{"VALUE":"`+value+`"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lab.Holder(i)
}

// endedFor waits until the server has ended a run for the reason, and until events of the run and its Instance tell so.
func endedFor(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, reason, message string) {
	t.Helper()
	pe = l.Ended(t, pe, v1beta1.ExecutionFatalError)
	cond := meta.FindStatusCondition(pe.Status.Conditions, v1beta1.FailedConditionType)
	if cond == nil || cond.Reason != reason || cond.Message != pe.Status.Message || !strings.Contains(cond.Message, message) {
		t.Errorf("condition Failed: %+v; want reason %s and message %q, which says %q", cond, reason, pe.Status.Message, message)
	}
	for _, kind := range []string{"PlanExecution", "Instance"} {
		l.Selected(t, lab.Events, pe.Namespace, metav1.ListOptions{FieldSelector: "reason=" + reason + ",involvedObject.kind=" + kind}, "of the "+kind,
			func(obj *unstructured.Unstructured) bool {
				return obj != nil && strings.Contains(fmt.Sprint(obj.Object["message"]), pe.Status.Message) && obj.Object["type"] == "Normal"
			})
	}
}

// TestSupersededAndCancelled: a change of parameters takes the Instance over from the run of the change before, and a user ends what
// runs. In both cases the run does nothing more and the next one begins at once.
func TestSupersededAndCancelled(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{"update": lab.Serial("value", "wait", "last"), "quick": lab.Serial("done")},
		Tasks: []v1beta1.Task{lab.Apply("value", "value"), lab.Apply("wait", "wait"), lab.Apply("last", "last"), lab.Done("done")},
		Templates: map[string]string{"value": lab.ConfigMap("value", "{{ .Params.VALUE }}"), "wait": lab.Workload("Deployment", "wait", "test/"+ns),
			"last": lab.ConfigMap("last", "x")},
		Parameters: []v1beta1.Parameter{lab.Parameter("VALUE", "0")},
	})
	first := changed(t, l, ns, "1")
	waiting(t, l, first, "wait", "0 of 1 replicas available")
	second := changed(t, l, ns, "2")
	if second.UID == first.UID {
		t.Fatalf("the run of the change before still holds the Instance: %v", first.Name)
	}
	begun := time.Now()
	waiting(t, l, second, "wait", "0 of 1 replicas available")
	if took := time.Since(begun); took > reaction {
		t.Errorf("the next run took %v to begin", took)
	}
	endedFor(t, l, first, v1beta1.ReasonSuperseded, second.Name)
	l.Object(t, lab.ConfigMaps, ns, "value", "to be what the last change says", func(obj *unstructured.Unstructured) bool {
		value, _, _ := unstructured.NestedString(obj.Object, "data", "value")
		return value == "2"
	})

	out, err := l.Plugin(t, "plan", "cancel", "-n", ns, "--instance", "sample", "--message", "enough")
	if err != nil || !strings.Contains(out, "Cancelled update plan of "+ns+"/sample instance") || !strings.Contains(out, second.Name+" cancelled by ") || !strings.Contains(out, ": enough") {
		t.Fatalf("%v\n%s", err, out)
	}
	endedFor(t, l, second, v1beta1.ReasonCancelled, ": enough")
	l.Allow(t, "test/"+ns)
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
	l.Object(t, lab.Deployments, ns, "wait", "to be ready", func(obj *unstructured.Unstructured) bool {
		n, _, _ := unstructured.NestedInt64(obj.Object, "status", "availableReplicas")
		return n == 1
	})
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
	l.Object(t, lab.ConfigMaps, ns, "last", "not to be there", func(obj *unstructured.Unstructured) bool { return obj == nil })

	out, err = l.Plugin(t, "plan", "history", "-n", ns, "--instance", "sample", "--plan", "update")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[1], second.Name) || !strings.HasPrefix(lines[2], first.Name) {
		t.Errorf("%v\n%s", err, out)
	}
	l.Unlocked(t, ns, "sample")
	if out, err = l.Plugin(t, "plan", "cancel", "-n", ns, "--instance", "sample"); err == nil || !strings.Contains(out, "there is nothing to cancel") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUninstall: the command tells of the cleanup, ends when that has failed and says how to go on, which works.
func TestUninstall(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, cleaned("test/"+ns))
	out, err := l.Plugin(t, "uninstall", "-n", ns, "--instance", "sample")
	if err != nil || !strings.Contains(out, "its plan cleanup runs first") {
		t.Fatalf("%v\n%s", err, out)
	}
	waiting(t, l, deleting(t, l, ns), "wait", "0 of 1 replicas available")
	if out, err = l.Plugin(t, "plan", "cancel", "-n", ns, "--instance", "sample"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = l.Plugin(t, "uninstall", "-n", ns, "--instance", "sample", "--wait")
	for _, part := range []string{"its cleanup plan failed: cancelled by", "kubectl kudo plan trigger -n " + ns + " --instance sample --name cleanup", v1beta1.CleanupFinalizer} {
		if err == nil || !strings.Contains(out, part) {
			t.Errorf("the answer lacks %q: %v\n%s", part, err, out)
		}
	}
	if out, err = l.Plugin(t, "plan", "trigger", "-n", ns, "--instance", "sample", "--name", "cleanup"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	again := l.Instance(t, ns, "sample", "to be held by its cleanup", func(i *v1beta1.Instance) bool { return i.Spec.PlanExecution.PlanName == v1beta1.CleanupPlanName })
	waiting(t, l, lab.Holder(again), "wait", "0 of 1 replicas available")
	l.Allow(t, "test/"+ns)
	if out, err = l.Plugin(t, "uninstall", "-n", ns, "--instance", "sample", "--wait"); err != nil && !strings.Contains(out, "not found") {
		t.Errorf("%v\n%s", err, out)
	}
	l.Object(t, lab.Instances, ns, "sample", "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
}
