// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package objects

import (
	"flag"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

var room lab.Room

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for the cluster most of the time.
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
	os.Exit(room.Main(m))
}

var (
	clusterRoles = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	definitions  = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// clusterRole is a template.
func clusterRole(name string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + name + "}\nrules: [{apiGroups: [test.kudo.dev], resources: [none], verbs: [get]}]\n"
}

// change changes parameters of the Instance "sample" and returns the run that follows.
func change(t *testing.T, l *lab.Lab, ns, patch string) *v1beta1.PlanExecution {
	t.Helper()
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lab.Holder(i)
}

// gone waits until an object does not exist.
func gone(t *testing.T, l *lab.Lab, gvr schema.GroupVersionResource, ns, name string) {
	t.Helper()
	l.Object(t, gvr, ns, name, "to be gone", func(o *unstructured.Unstructured) bool { return o == nil })
}

// there reads an object that must exist.
func there(t *testing.T, l *lab.Lab, gvr schema.GroupVersionResource, ns, name string) *unstructured.Unstructured {
	t.Helper()
	return l.Object(t, gvr, ns, name, "to be there", func(o *unstructured.Unstructured) bool { return o != nil && o.GetDeletionTimestamp() == nil })
}

// event waits for an event that the Instance has, with words of its message.
func event(t *testing.T, l *lab.Lab, ns, reason, words string) {
	t.Helper()
	l.Selected(t, lab.Events, ns, metav1.ListOptions{FieldSelector: "involvedObject.kind=Instance,reason=" + reason}, "event "+reason+" with "+words, func(o *unstructured.Unstructured) bool {
		if o == nil {
			return false
		}
		message, _, _ := unstructured.NestedString(o.Object, "message")
		return strings.Contains(message, words)
	})
}

// listed is the inventory of the Instance "sample", as Kind/name=tasks.
func listed(t *testing.T, l *lab.Lab, ns string) []string {
	t.Helper()
	var out []string
	for _, e := range l.Unlocked(t, ns, "sample").Status.Inventory {
		if e.UID == "" {
			t.Errorf("%s %s has no uid", e.Kind, e.Name)
		}
		out = append(out, e.Kind+"/"+e.Name+"="+strings.Join(e.Tasks, ","))
	}
	return out
}
