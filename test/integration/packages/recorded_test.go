// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/restmapper"
)

// lastApplied holds an object as a step applied it.
const lastApplied = "kudo.dev/last-applied-configuration"

func (j *journey) compareSteps(t *testing.T) {
	t.Helper()
	i := j.l.Unlocked(t, j.ns, instance)
	var got []string
	for _, p := range i.Status.PlanStatus["deploy"].Phases {
		for _, s := range p.Steps {
			got = append(got, p.Name+"/"+s.Name+"="+string(s.Status))
		}
	}
	if diff := cmp.Diff(j.recorded.Steps, got); diff != "" {
		t.Errorf("the steps of the plan deploy differ from KUDO's (-KUDO +here):\n%s", diff)
	}
}

// compareObjects: the objects that KUDO applied and kept are those that are here, and each was applied with the same content.
// Neither may have more than the other. What may differ is in differences_test.go.
func (j *journey) compareObjects(t *testing.T) {
	t.Helper()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(j.l.Kube.Discovery()))
	known := map[string]bool{}
	rules := map[string]bool{}
	different := 0
	for _, object := range j.recorded.Objects {
		want := &unstructured.Unstructured{Object: object}
		gvk := want.GroupVersionKind()
		if successor, ok := successors[gvk.GroupVersion().String()]; ok {
			rules[gvk.GroupVersion().String()+" is "+successor] = true
			gvk.Group, gvk.Version, _ = strings.Cut(successor, "/")
		}
		known[want.GetKind()+"/"+want.GetName()] = true
		m, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
			continue
		}
		ns := j.ns
		if m.Scope.Name() != meta.RESTScopeNameNamespace {
			ns = ""
		}
		live, err := j.l.Dynamic.Resource(m.Resource).Namespace(ns).Get(t.Context(), want.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Errorf("%s %s: %v", want.GetKind(), want.GetName(), err)
			continue
		}
		got := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(live.GetAnnotations()[lastApplied]), &got.Object); err != nil {
			t.Errorf("%s %s: its annotation %s: %v", want.GetKind(), want.GetName(), lastApplied, err)
			continue
		}
		withoutRun(t, got, ns != "")
		if gvk.Kind == "CustomResourceDefinition" {
			want, got = definition(want), definition(got)
		}
		want.SetGroupVersionKind(gvk)
		if diff := cmp.Diff(typed(t, want), typed(t, got)); diff != "" {
			different++
			t.Errorf("%s %s was applied with another content than KUDO's (-KUDO +here):\n%s", want.GetKind(), want.GetName(), diff)
		}
	}
	for _, o := range j.owned(t) {
		if !known[o.kind+"/"+o.name] {
			different++
			t.Errorf("%s/%s is there, and KUDO made none", o.kind, o.name)
		}
	}
	j.same = fmt.Sprintf("%d of %d", len(j.recorded.Objects)-different, len(j.recorded.Objects))
	for rule := range rules {
		j.same += "; " + rule
	}
}

// withoutRun removes what names one run and one Instance, which the recordings do not have. An object in no namespace has an
// annotation where others have their owner.
func withoutRun(t *testing.T, obj *unstructured.Unstructured, namespaced bool) {
	t.Helper()
	annotations := obj.GetAnnotations()
	if annotations["kudo.dev/last-plan-execution-uid"] == "" {
		t.Errorf("%s %s does not name the run that applied it", obj.GetKind(), obj.GetName())
	}
	delete(annotations, "kudo.dev/last-plan-execution-uid")
	if (annotations["kudo.dev/instance-uid"] == "") != namespaced {
		t.Errorf("%s %s: annotation kudo.dev/instance-uid is %q, and it is in a namespace: %v", obj.GetKind(), obj.GetName(), annotations["kudo.dev/instance-uid"], namespaced)
	}
	delete(annotations, "kudo.dev/instance-uid")
	obj.SetAnnotations(annotations)
	owners := obj.GetOwnerReferences()
	for i := range owners {
		if owners[i].UID == "" {
			t.Errorf("%s %s has an owner without uid", obj.GetKind(), obj.GetName())
		}
		owners[i].UID = ""
	}
	if len(owners) > 0 {
		obj.SetOwnerReferences(owners)
	}
}

// typed brings an object of a built-in kind into the form of its Go type and back. After that two objects that mean the same are
// the same: quantities, fields without a value, numbers. KUDO wrote objects by their Go types, we write them as the template has them.
func typed(t *testing.T, obj *unstructured.Unstructured) map[string]any {
	t.Helper()
	if scheme.Scheme.Recognizes(obj.GroupVersionKind()) {
		into, err := scheme.Scheme.New(obj.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(obj.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
		if text, err = json.Marshal(into); err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	return obj.Object
}

// ownedObject is an object in the namespace that the Instance owns.
type ownedObject struct {
	resource   schema.GroupVersionResource
	kind, name string
	applied    string
}

// owned lists all objects in the namespace that the Instance owns, except KUDO's own.
func (j *journey) owned(t *testing.T) []ownedObject {
	t.Helper()
	lists, err := j.l.Kube.Discovery().ServerPreferredNamespacedResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		t.Fatal(err)
	}
	var out []ownedObject
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || gv.Group == "kudo.dev" {
			continue
		}
		for _, r := range list.APIResources {
			objects, err := j.l.Dynamic.Resource(gv.WithResource(r.Name)).Namespace(j.ns).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				continue // a kind that another package defined and has removed since
			}
			for i := range objects.Items {
				o := &objects.Items[i]
				if slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == "Instance" }) {
					out = append(out, ownedObject{gv.WithResource(r.Name), o.GetKind(), o.GetName(), o.GetAnnotations()[lastApplied]})
				}
			}
		}
	}
	return out
}

// unowned lists the objects in no namespace that the recording has and that go with the Instance: definitions stay, because data of
// others may hang on them.
func (j *journey) unowned(t *testing.T) []ownedObject {
	t.Helper()
	if j.recorded == nil {
		return nil
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(j.l.Kube.Discovery()))
	var out []ownedObject
	for _, object := range j.recorded.Objects {
		u := &unstructured.Unstructured{Object: object}
		if u.GetNamespace() != "" || u.GetKind() == "CustomResourceDefinition" {
			continue
		}
		m, err := mapper.RESTMapping(u.GroupVersionKind().GroupKind())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ownedObject{resource: m.Resource, kind: u.GetKind(), name: u.GetName()})
	}
	return out
}

// applied is the content of each owned object without what names plan and run.
func (j *journey) applied(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, o := range j.owned(t) {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(o.applied), &u.Object); err != nil {
			t.Fatalf("%s %s: its annotation %s: %v", o.kind, o.name, lastApplied, err)
		}
		u.SetAnnotations(nil)
		text, err := json.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out[o.kind+"/"+o.name] = string(text)
	}
	return out
}
