// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestPruneOnParameterChange: what the templates of a task no longer have is deleted, but for what holds data and what says otherwise.
func TestPruneOnParameterChange(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	role := ns + "-{{ .Params.suffix }}"
	o := lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("all", "last"), "backup": lab.Serial("save")},
		Tasks: []v1beta1.Task{lab.Apply("all", "all"), lab.Apply("save", "save"), lab.Done("last")},
		Templates: map[string]string{
			"all": lab.ConfigMap("fixed", "{{ .Params.suffix }}") + "---\n" + lab.ConfigMap("cm-{{ .Params.suffix }}", "x") + "---\n" +
				"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'kept-{{ .Params.suffix }}', annotations: {kudo.dev/prune: \"false\"}}\n---\n" +
				"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: 'data-{{ .Params.suffix }}'}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}\n---\n" +
				clusterRole(role),
			"save": lab.ConfigMap("backup-{{ .Params.suffix }}", "x"),
		},
		Parameters: []v1beta1.Parameter{lab.Parameter("suffix", "a")},
	}
	l.Deployed(t, ns, o)
	l.Ended(t, l.Trigger(t, ns, "backup"), v1beta1.ExecutionComplete)
	before := []string{"ClusterRole/" + ns + "-a=all", "ConfigMap/backup-a=save", "ConfigMap/cm-a=all", "ConfigMap/fixed=all", "ConfigMap/kept-a=all", "PersistentVolumeClaim/data-a=all"}
	if diff := cmp.Diff(before, listed(t, l, ns)); diff != "" {
		t.Fatal(diff)
	}
	// A run of another plan with other parameters only adds.
	l.Ended(t, l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "backup", Parameters: map[string]string{"suffix": "z"}}), v1beta1.ExecutionComplete)
	there(t, l, lab.ConfigMaps, ns, "backup-a")

	l.Ended(t, change(t, l, ns, `{"spec":{"parameters":{"suffix":"b"}}}`), v1beta1.ExecutionComplete)
	gone(t, l, lab.ConfigMaps, ns, "cm-a")
	gone(t, l, clusterRoles, "", ns+"-a")
	for _, name := range []string{"cm-b", "kept-a", "kept-b", "backup-a", "backup-z", "fixed"} {
		there(t, l, lab.ConfigMaps, ns, name)
	}
	there(t, l, lab.Claims, ns, "data-a")
	event(t, l, ns, "ObjectKept", "PersistentVolumeClaim "+ns+"/data-a is kept")
	event(t, l, ns, "ObjectKept", `kudo.dev/prune: "false"`)
	// What is kept is not missed when somebody deletes it.
	after := []string{"ClusterRole/" + ns + "-b=all", "ConfigMap/backup-a=save", "ConfigMap/backup-z=save", "ConfigMap/cm-b=all", "ConfigMap/fixed=all", "ConfigMap/kept-b=all", "PersistentVolumeClaim/data-b=all"}
	if diff := cmp.Diff(after, listed(t, l, ns)); diff != "" {
		t.Error(diff)
	}
}

// TestPruneOnUpgrade: objects of tasks that the new version does not have go at the end of the plan that the upgrade starts, and an object
// that moved to another task stays.
func TestPruneOnUpgrade(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	o := lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("one", "two", "three")},
		Tasks:     []v1beta1.Task{lab.Apply("one", "one"), lab.Apply("two", "two"), lab.Apply("three", "three")},
		Templates: map[string]string{"one": lab.ConfigMap("one", "1"), "two": lab.ConfigMap("two", "1") + "---\n" + lab.ConfigMap("moves", "1"), "three": lab.ConfigMap("three", "1")},
	}
	l.Deployed(t, ns, o)
	moves := there(t, l, lab.ConfigMaps, ns, "moves").GetUID()
	// Somebody else has made one of the objects anew: it is not the Instance's to delete.
	if err := l.Kube.CoreV1().ConfigMaps(ns).Delete(t.Context(), "three", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Cluster.Kubectl("create", "configmap", "three", "-n", ns); err != nil {
		t.Fatal(err)
	}
	next := &v1beta1.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: "op2", Namespace: ns}, Spec: v1beta1.OperatorVersionSpec{
		Operator: v1beta1.ObjectReference{Name: "test"}, Version: "2.0.0", Plans: map[string]v1beta1.Plan{"deploy": lab.Parallel("one", "new")},
		Tasks: []v1beta1.Task{lab.Apply("one", "one"), lab.Apply("new", "new")}, Templates: map[string]string{"one": lab.ConfigMap("one", "2"), "new": lab.ConfigMap("moves", "2")}}}
	if _, err := l.Kudo.KudoV1beta1().OperatorVersions(ns).Create(t.Context(), next, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.Ended(t, change(t, l, ns, `{"spec":{"operatorVersion":{"name":"op2"}}}`), v1beta1.ExecutionComplete)
	if diff := cmp.Diff([]string{"ConfigMap/moves=new,two", "ConfigMap/one=one"}, listed(t, l, ns)); diff != "" {
		t.Error(diff)
	}
	gone(t, l, lab.ConfigMaps, ns, "two")
	there(t, l, lab.ConfigMaps, ns, "three")
	if there(t, l, lab.ConfigMaps, ns, "moves").GetUID() != moves {
		t.Error("the object that moved to another task was made anew")
	}
}

// TestPruneWaits: the last step waits until an object is gone that a finalizer holds, and says so.
func TestPruneWaits(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	o := lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("toggled", "all")},
		Tasks: []v1beta1.Task{lab.Apply("all", "all"), lab.Toggle("toggled", "on", "extra")},
		Templates: map[string]string{"all": "{{ if eq .Params.on \"true\" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [test.kudo.dev/hold]}\n{{ end }}",
			"extra": lab.ConfigMap("extra", "x")},
		Parameters: []v1beta1.Parameter{lab.Parameter("on", "true")},
	}
	l.Deployed(t, ns, o)
	pe := change(t, l, ns, `{"spec":{"parameters":{"on":"false"}}}`)
	l.Run(t, pe, "to wait for the deletion", func(pe *v1beta1.PlanExecution) bool {
		for _, p := range pe.Status.Phases {
			for _, s := range p.Steps {
				if s.Name == "all" && s.Message == "task all: waits until ConfigMap "+ns+"/held, which no task applies any more, is gone (finalizers test.kudo.dev/hold)" {
					return true
				}
			}
		}
		return false
	})
	gone(t, l, lab.ConfigMaps, ns, "extra")
	if _, err := l.Cluster.Kubectl("patch", "configmap", "held", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	if got := listed(t, l, ns); len(got) != 0 {
		t.Errorf("the inventory has %v", got)
	}
}
