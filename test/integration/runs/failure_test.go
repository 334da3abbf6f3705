// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// failed checks that a run that ended with FATAL_ERROR says why, wherever people look.
func failed(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, reason string, message ...string) {
	t.Helper()
	for _, part := range message {
		if !strings.Contains(pe.Status.Message, part) {
			t.Errorf("the message lacks %q: %s", part, pe.Status.Message)
		}
	}
	cond := meta.FindStatusCondition(pe.Status.Conditions, v1beta1.FailedConditionType)
	if cond == nil || cond.Status != metav1.ConditionTrue || cond.Reason != reason || cond.Message != pe.Status.Message {
		t.Errorf("condition Failed: %+v; want reason %s and message %q", cond, reason, pe.Status.Message)
	}
	if meta.FindStatusCondition(pe.Status.Conditions, v1beta1.CompleteConditionType) != nil || pe.Status.CompletionTime == nil {
		t.Errorf("status: %+v", pe.Status)
	}
	i := l.Unlocked(t, pe.Namespace, pe.Spec.InstanceName)
	if s := i.Status.PlanStatus[pe.Spec.PlanName]; s.Status != v1beta1.ExecutionFatalError || s.Message != pe.Status.Message || s.UID != pe.UID {
		t.Errorf("status of the plan in the Instance: %+v", s)
	}
	for _, about := range []metav1.Object{pe, i} {
		l.Selected(t, lab.Events, pe.Namespace, metav1.ListOptions{FieldSelector: "reason=" + reason + ",involvedObject.uid=" + string(about.GetUID())},
			"of "+about.GetName()+" with reason "+reason, func(obj *unstructured.Unstructured) bool {
				if obj == nil {
					return false
				}
				text, _, _ := unstructured.NestedString(obj.Object, "message")
				kind, _, _ := unstructured.NestedString(obj.Object, "type")
				return kind == corev1.EventTypeWarning && strings.Contains(text, message[0])
			})
	}
}

// TestFailures: what cannot work ends the run with the reason, releases the Instance, and leaves it usable.
func TestFailures(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: u, controller: true}]\n"
	for _, c := range []struct {
		name, template string
		// task, if set, takes the place of an Apply task of the template.
		task    *v1beta1.Task
		reason  string
		message []string
	}{
		{name: "malformed template", template: "a: 1\nb: {{ if }}\n", reason: "TaskRenderingError", message: []string{"bad.main.it.it: ", "t.yaml", "line 2"}},
		{name: "missing key", template: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Params.nope }}\n", reason: "TaskRenderingError", message: []string{"bad.main.it.it: ", "t.yaml", "line 4", "nope"}},
		{name: "malformed YAML", template: "apiVersion: v1\nkind: ConfigMap\n  metadata: {\n", reason: "TaskRenderingError", message: []string{"bad.main.it.it: ", "t.yaml", "line 3"}},
		{name: "no such template", task: new(lab.Apply("it", "other.yaml")), reason: "TaskRenderingError", message: []string{"bad.main.it.it: ", `there is no template "other.yaml"`, "t.yaml"}},
		{name: "no such task", task: new(lab.Apply("another")), reason: "UnknownTaskName", message: []string{`step bad.main.it names the task "it"`, "it defines another, fine"}},
		{name: "unknown kind", template: "apiVersion: nowhere.example.org/v1\nkind: Nothing\nmetadata: {name: x}\n", reason: "UnknownKind", message: []string{"bad.main.it.it: ", "t.yaml", "Nothing", "nowhere.example.org/v1"}},
		{name: "invalid object", template: "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {ports: [{port: 99999}]}\n", reason: "ObjectRejected", message: []string{"bad.main.it.it: ", "t.yaml", "spec.ports[0].port", "99999"}},
		{name: "wrong type", template: "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {ports: many}\n", reason: "ObjectRejected", message: []string{"bad.main.it.it: ", "t.yaml", "ports"}},
		{name: "owner in the template", template: other, reason: "TaskEnhancementError", message: []string{"bad.main.it.it: ", "t.yaml", "ConfigMap x as its controlling owner"}},
		{name: "object of another owner", template: lab.ConfigMap("theirs", ""), reason: "ObjectRejected", message: []string{"bad.main.it.it: ", "t.yaml", "theirs", "ontroller"}},
		{name: "unsupported task", task: &v1beta1.Task{Name: "it", Kind: "Telepathy"}, reason: "TaskBuildError", message: []string{"bad.main.it.it: ", "Telepathy", "Apply, Delete, Dummy"}},
		{name: "no name", template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n", reason: "TaskRenderingError", message: []string{"bad.main.it.it: ", "t.yaml", "metadata.name"}},
		{name: "dummy", task: &v1beta1.Task{Name: "it", Kind: "Dummy", Spec: v1beta1.TaskSpec{WantErr: true, Fatal: true}}, reason: "DummyTaskError", message: []string{"bad.main.it.it: "}},
		{name: "toggle of nothing", task: new(lab.Toggle("it", "nope", "t.yaml")), reason: "ToggleTaskError", message: []string{"bad.main.it.it: ", `"nope"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			foreign(t, l, ns)
			task := lab.Apply("it", "t.yaml")
			if c.task != nil {
				task = *c.task
			}
			l.Deployed(t, ns, lab.Operator{
				Plans:     map[string]v1beta1.Plan{"bad": lab.Serial("it", "never=fine"), "good": lab.Serial("fine")},
				Tasks:     []v1beta1.Task{task, lab.Apply("fine", "fine")},
				Templates: map[string]string{"t.yaml": c.template, "fine": lab.ConfigMap("fine", "")},
			})
			pe := l.Ended(t, l.Trigger(t, ns, "bad"), v1beta1.ExecutionFatalError)
			t.Log(pe.Status.Message)
			failed(t, l, pe, c.reason, c.message...)
			if s := lab.Step(t, pe, "never"); s.Status != v1beta1.ExecutionPending {
				t.Errorf("the next step: %+v", s)
			}
			l.Ended(t, l.Trigger(t, ns, "good"), v1beta1.ExecutionComplete)
		})
	}
}

// foreign makes a ConfigMap that another object controls.
func foreign(t *testing.T, l *lab.Lab, ns string) {
	t.Helper()
	maps := l.Kube.CoreV1().ConfigMaps(ns)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true)}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
