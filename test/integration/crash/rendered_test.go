// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

const passwordSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: password}\nstringData: {password: '{{ randAlphaNum 32 }}'}\n"

// TestKillKeepsPassword: the executor is killed in the middle of a step that has applied a random password. The next one carries the
// step out again, with the same password; the next run has another one.
func TestKillKeepsPassword(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	label := "test/" + ns
	pe := l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("work")},
		Tasks:     []v1beta1.Task{lab.Apply("work", "password", "plain", "wait")},
		Templates: map[string]string{"password": passwordSecret, "plain": lab.ConfigMap("plain", "{{ .Name }}"), "wait": lab.Workload("Deployment", "wait", label)},
	}, nil)
	password := func() (string, string) {
		t.Helper()
		s, err := l.Kube.CoreV1().Secrets(ns).Get(t.Context(), "password", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(s.Data["password"]), s.Annotations["kudo.dev/last-plan-execution-uid"]
	}
	kept := func() (names []string) {
		t.Helper()
		list, err := l.Kube.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "type=kudo.dev/rendered-template"})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Items {
			names = append(names, s.Name)
		}
		return names
	}
	applied := func(pe *v1beta1.PlanExecution) bool {
		for _, p := range pe.Status.Phases {
			for _, s := range p.Steps {
				// They are announced before they are applied, without a uid.
				if len(s.Objects) == 3 && !slices.ContainsFunc(s.Objects, func(o v1beta1.ObjectExecutionStatus) bool { return o.UID == "" }) {
					return true
				}
			}
		}
		return false
	}
	l.Run(t, pe, "to have applied its objects", applied)
	first, _ := password()
	texts := kept()
	if len(first) != 32 || len(texts) != 1 {
		t.Fatalf("the password is %q, and %v are kept", first, texts)
	}
	for range 2 {
		must(t, l.KUDO.KillExecutor())
		// Whoever carries the step out again has to apply the object again, and it must be as it was.
		must(t, l.Kube.CoreV1().Secrets(ns).Delete(t.Context(), "password", metav1.DeleteOptions{}))
		must(t, l.KUDO.StartExecutor(t.Context()))
		l.Object(t, lab.Secrets, ns, "password", "to be applied again", func(obj *unstructured.Unstructured) bool { return obj != nil })
		if got, _ := password(); got != first {
			t.Errorf("the password was %q and is now %q", first, got)
		}
	}
	l.Allow(t, label)
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	next := l.Ended(t, l.Trigger(t, ns, "deploy"), v1beta1.ExecutionComplete)
	if got, run := password(); got == first || run != string(next.UID) {
		t.Errorf("the next run has the same password, or is not the one that applied it: %s", run)
	}
	must(t, l.Kudo.KudoV1beta1().PlanExecutions(ns).Delete(t.Context(), pe.Name, metav1.DeleteOptions{}))
	l.Object(t, lab.Secrets, ns, texts[0], "to go with its run", func(obj *unstructured.Unstructured) bool { return obj == nil })
}
