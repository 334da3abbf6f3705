// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"kudo.dev/kudo/test/integration/runs/lab"
)

// successors are the API versions in which objects are applied whose version Kubernetes has retired.
var successors = map[string]string{
	"policy/v1beta1":                    "policy/v1",
	"rbac.authorization.k8s.io/v1beta1": "rbac.authorization.k8s.io/v1",
	"apiextensions.k8s.io/v1beta1":      "apiextensions.k8s.io/v1",
}

// compareObjects checks that all recorded objects are there, with all that was recorded of them, and no others.
func compareObjects(t *testing.T, l *lab.Lab, ns string, want expectation) {
	t.Helper()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(l.Kube.Discovery()))
	known := map[string]bool{}
	for _, object := range want.Objects {
		u := unstructured.Unstructured{Object: object}
		retired := false
		if v, ok := successors[u.GetAPIVersion()]; ok {
			u.SetAPIVersion(v)
			retired = true
		}
		known[u.GetKind()+"/"+u.GetName()] = true
		gvk := u.GroupVersionKind()
		m, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
			continue
		}
		client := l.Dynamic.Resource(m.Resource)
		var live *unstructured.Unstructured
		if m.Scope.Name() == meta.RESTScopeNameNamespace {
			live, err = client.Namespace(ns).Get(t.Context(), u.GetName(), metav1.GetOptions{})
		} else {
			live, err = client.Get(t.Context(), u.GetName(), metav1.GetOptions{})
		}
		if err != nil {
			t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), err)
			continue
		}
		if retired && u.GetKind() == "CustomResourceDefinition" {
			delete(object, "spec") // its form has changed; the unit tests of the conversion look at it
			live.SetOwnerReferences(nil)
		}
		got := pick(live.Object, object, "")
		if diff := cmp.Diff(normal(object), got); diff != "" {
			t.Errorf("%s %s differs from what KUDO made (-want +got):\n%s", u.GetKind(), u.GetName(), diff)
		}
		if len(live.GetOwnerReferences()) != len(u.GetOwnerReferences()) {
			t.Errorf("%s %s is owned by %v, want %v", u.GetKind(), u.GetName(), live.GetOwnerReferences(), u.GetOwnerReferences())
		}
	}
	for _, name := range owned(t, l, ns) {
		if !known[name] {
			t.Errorf("%s is there, and KUDO made none", name)
		}
	}
}

// pick returns of live what wanted has, so that the difference of the two shows what matters. Quantities that are equal
// are returned as they were wanted.
func pick(live, wanted any, path string) any {
	switch w := wanted.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return live
		}
		out := map[string]any{}
		for k, v := range w {
			if empty(k, v) {
				continue
			}
			if have, ok := l[k]; ok {
				out[k] = pick(have, v, path+"."+k)
			} else if m, ok := v.(map[string]any); ok && len(normal(m).(map[string]any)) == 0 {
				out[k] = map[string]any{} // an empty map and no map are the same
			}
		}
		return out
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(w) {
			return live
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = pick(l[i], w[i], fmt.Sprintf("%s[%d]", path, i))
		}
		return out
	}
	a, errA := resource.ParseQuantity(fmt.Sprint(live))
	b, errB := resource.ParseQuantity(fmt.Sprint(wanted))
	if errA == nil && errB == nil && a.Cmp(b) == 0 {
		return normal(wanted)
	}
	return live
}

// empty tells fields without a value, which KUDO recorded because it wrote objects by their Go types.
func empty(key string, value any) bool {
	return value == nil || key == "targetPort" && value == float64(0)
}

// normal leaves out fields without a value.
func normal(v any) any {
	switch w := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range w {
			if !empty(k, v) {
				out[k] = normal(v)
			}
		}
		return out
	case []any:
		out := make([]any, len(w))
		for i := range w {
			out[i] = normal(w[i])
		}
		return out
	}
	return v
}

// owned are all objects in a namespace that the Instance owns, except KUDO's own, as Kind/name.
func owned(t *testing.T, l *lab.Lab, ns string) []string {
	t.Helper()
	lists, err := l.Kube.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || gv.Group == "kudo.dev" {
			continue
		}
		for _, r := range list.APIResources {
			objects, err := l.Dynamic.Resource(gv.WithResource(r.Name)).Namespace(ns).List(t.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				continue // a kind that another test defined and has removed since
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range objects.Items {
				o := &objects.Items[i]
				if slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == "Instance" }) {
					out = append(out, o.GetKind()+"/"+o.GetName())
				}
			}
		}
	}
	return out
}
