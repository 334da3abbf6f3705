// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"kudo.dev/kudo/test/integration/runs/lab"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// kindInTemplate finds what a template makes, in either order of the two lines.
var kindInTemplate = regexp.MustCompile(`(?m)^apiVersion: *"?([a-z0-9.-]+)/(v[a-z0-9]+)"? *\nkind: *"?([A-Za-z]+)|^kind: *"?([A-Za-z]+)"? *\napiVersion: *"?([a-z0-9.-]+)/(v[a-z0-9]+)`)

// defineForeign makes definitions, without any rules, of the kinds that the package uses and somebody else's operator defines.
func (j *journey) defineForeign(t *testing.T) []string {
	t.Helper()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(j.l.Kube.Discovery()))
	var kinds []string
	for _, text := range j.content.Templates {
		for _, m := range kindInTemplate.FindAllStringSubmatch(text, -1) {
			gvk := schema.GroupVersionKind{Group: m[1] + m[5], Version: m[2] + m[6], Kind: m[3] + m[4]}
			if !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io") || gvk.Group == "kudo.dev" || slices.Contains(kinds, gvk.Kind) {
				continue
			}
			if _, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version); !meta.IsNoMatchError(err) {
				continue
			}
			j.define(t, gvk)
			kinds = append(kinds, gvk.Kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func (j *journey) define(t *testing.T, gvk schema.GroupVersionKind) {
	t.Helper()
	plural := strings.ToLower(gvk.Kind) + "s"
	name := plural + "." + gvk.Group
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": gvk.Group, "scope": "Namespaced", "names": map[string]any{"kind": gvk.Kind, "plural": plural},
			"versions": []any{map[string]any{"name": gvk.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		},
	}}
	if _, err := j.l.Dynamic.Resource(definitions).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	j.l.Object(t, definitions, "", name, "to be established", func(obj *unstructured.Unstructured) bool {
		if obj == nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["type"] == "Established" && m["status"] == "True"
		})
	})
	deadline := time.Now().Add(lab.Patience)
	for {
		_, err := j.l.Kube.Discovery().ServerResourcesForGroupVersion(gvk.GroupVersion().String())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(fmt.Errorf("%s is established and not served: %w", name, err))
		}
		time.Sleep(50 * time.Millisecond) // between looks at discovery, which cannot be watched
	}
}
