// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package objects

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestJobsOfLaterRuns: a second backup is a second backup, a second deploy is not a second initialisation, and a template may say otherwise.
func TestJobsOfLaterRuns(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	annotated := func(name, value string) string {
		return strings.Replace(lab.Job(name, ""), "{name: "+name+"}", "{name: "+name+", annotations: {kudo.dev/recreate: "+value+"}}", 1)
	}
	all := lab.Job("plain", "") + "---\n" + annotated("always", "Always") + "---\n" + annotated("never", "Never") + "---\n" +
		strings.Replace(annotated("onchange", "OnChange"), "image: none", "image: 'none:{{ .Params.tag }}'", 1)
	o := lab.Operator{
		Plans:      map[string]v1beta1.Plan{"deploy": lab.Serial("all"), "backup": lab.Serial("all"), "once": lab.Serial("step=one,rm")},
		Tasks:      []v1beta1.Task{lab.Apply("all", "all"), lab.Apply("one", "one", "one"), lab.Delete("rm", "one")},
		Templates:  map[string]string{"all": all, "one": lab.Job("one", "")},
		Parameters: []v1beta1.Parameter{lab.Parameter("tag", "1")},
	}
	l.Deployed(t, ns, o)
	uids := func() map[string]string {
		out := map[string]string{}
		for _, name := range []string{"plain", "always", "never", "onchange"} {
			out[name] = string(there(t, l, lab.Jobs, ns, name).GetUID())
		}
		return out
	}
	before := uids()
	for _, c := range []struct {
		what string
		run  func() *v1beta1.PlanExecution
		anew string
	}{
		{"deploy", func() *v1beta1.PlanExecution { return l.Trigger(t, ns, "deploy") }, "always"},
		{"backup", func() *v1beta1.PlanExecution { return l.Trigger(t, ns, "backup") }, "plain always onchange"},
		{"a change", func() *v1beta1.PlanExecution { return change(t, l, ns, `{"spec":{"parameters":{"tag":"2"}}}`) }, "always onchange"},
	} {
		l.Ended(t, c.run(), v1beta1.ExecutionComplete)
		l.Unlocked(t, ns, "sample")
		after := uids()
		for name := range before {
			if anew := before[name] != after[name]; anew != strings.Contains(" "+c.anew+" ", " "+name+" ") {
				t.Errorf("%s: the Job %q was made anew: %t", c.what, name, anew)
			}
		}
		before = after
	}

	t.Log("one step applies and deletes the same Job, in that order")
	l.Ended(t, l.Trigger(t, ns, "once"), v1beta1.ExecutionComplete)
	gone(t, l, lab.Jobs, ns, "one")
	for _, e := range listed(t, l, ns) {
		if strings.HasPrefix(e, "Job/one=") {
			t.Error("a Job that was deleted is in the inventory")
		}
	}
}

// TestImmutable: the error names the object, the field and the ways out. One of them is an annotation.
func TestImmutable(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	o := lab.Operator{
		Plans:      map[string]v1beta1.Plan{"deploy": lab.Serial("all")},
		Tasks:      []v1beta1.Task{lab.Apply("all", "all")},
		Templates:  map[string]string{"all": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: frozen\n  annotations: {x: z{{ if eq .Params.anew \"true\" }}, kudo.dev/recreate: OnChange{{ end }}}\nimmutable: true\ndata: {v: '{{ .Params.v }}'}\n"},
		Parameters: []v1beta1.Parameter{lab.Parameter("v", "1"), lab.Parameter("anew", "false")},
	}
	l.Deployed(t, ns, o)
	first := there(t, l, lab.ConfigMaps, ns, "frozen").GetUID()
	pe := l.Ended(t, change(t, l, ns, `{"spec":{"parameters":{"v":"2"}}}`), v1beta1.ExecutionFatalError)
	for _, words := range []string{"ConfigMap " + ns + "/frozen", "data", "field is immutable", "kudo.dev/recreate: OnChange"} {
		if !strings.Contains(pe.Status.Message, words) {
			t.Errorf("%q is not in: %s", words, pe.Status.Message)
		}
	}
	l.Unlocked(t, ns, "sample")
	l.Ended(t, change(t, l, ns, `{"spec":{"parameters":{"anew":"true"}}}`), v1beta1.ExecutionComplete)
	after := there(t, l, lab.ConfigMaps, ns, "frozen")
	if v, _, _ := unstructured.NestedString(after.Object, "data", "v"); v != "2" || after.GetUID() == first {
		t.Errorf("the object has the value %q and was made anew: %t", v, after.GetUID() != first)
	}
}

// TestObjectsOfOthers: an object that KUDO applied loses what the template no longer has and keeps what others set; one that another
// controller has is refused in words.
func TestObjectsOfOthers(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	old := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "adopted", "namespace": ns,
		"labels": map[string]any{"old": "label"}, "annotations": map[string]any{"kudo.dev/last-applied-configuration": "{}"}}, "data": map[string]any{"value": "old", "dropped": "x"}}}
	client := l.Dynamic.Resource(lab.ConfigMaps).Namespace(ns)
	if _, err := client.Create(t.Context(), old, metav1.CreateOptions{FieldManager: "manager"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Cluster.Kubectl("patch", "configmap", "adopted", "-n", ns, "--type=merge", "--field-manager=somebody", "-p", `{"data":{"other":"theirs"}}`); err != nil {
		t.Fatal(err)
	}
	owner, err := l.Kube.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	isController := true
	theirs := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "theirs", "namespace": ns}}}
	theirs.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: ns, UID: owner.UID, Controller: &isController}})
	if _, err := client.Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pe := l.Ended(t, l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("adopted", "theirs")},
		Tasks:     []v1beta1.Task{lab.Apply("adopted", "adopted"), lab.Apply("theirs", "theirs")},
		Templates: map[string]string{"adopted": lab.ConfigMap("adopted", "new"), "theirs": lab.ConfigMap("theirs", "x")},
	}, nil), v1beta1.ExecutionFatalError)
	if !strings.Contains(pe.Status.Message, `has the controller Namespace "`+ns+`"`) {
		t.Errorf("message: %s", pe.Status.Message)
	}
	after := there(t, l, lab.ConfigMaps, ns, "adopted")
	data, _, _ := unstructured.NestedStringMap(after.Object, "data")
	if len(data) != 2 || data["value"] != "new" || data["other"] != "theirs" || after.GetLabels()["old"] != "" {
		t.Errorf("the adopted object has the data %v and the labels %v", data, after.GetLabels())
	}
}
