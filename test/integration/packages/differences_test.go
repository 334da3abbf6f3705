// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// successors: Kubernetes has retired the API version in which KUDO applied an object, and the same content is applied in the
// version that took its place. docs/kudo-differences.md lists them.
var successors = map[string]string{
	"policy/v1beta1":                    "policy/v1",
	"rbac.authorization.k8s.io/v1beta1": "rbac.authorization.k8s.io/v1",
	"apiextensions.k8s.io/v1beta1":      "apiextensions.k8s.io/v1",
}

// definition brings a CustomResourceDefinition of either version into one form, in which each version has all that concerns it:
// v1beta1 says once for all versions what v1 says for each. What v1 has to say and v1beta1 took for granted is that the root of a
// schema is an object, that the scope is the namespace, and, of a group that looks like one of Kubernetes' own, by an annotation,
// whether Kubernetes has approved it. See loosen for what is in the schemas.
func definition(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	annotations := obj.GetAnnotations()
	delete(annotations, "api-approved.kubernetes.io")
	obj.SetAnnotations(annotations)
	spec, _ := obj.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		versions = []any{map[string]any{"name": spec["version"], "served": true, "storage": true}}
	}
	for _, v := range versions {
		version, _ := v.(map[string]any)
		for common, field := range map[string]string{"validation": "schema", "subresources": "subresources", "additionalPrinterColumns": "additionalPrinterColumns"} {
			if version[field] == nil && spec[common] != nil {
				version[field] = spec[common]
			}
		}
		if version["schema"] == nil {
			version["schema"] = map[string]any{}
		}
		holder, _ := version["schema"].(map[string]any)
		root, _ := holder["openAPIV3Schema"].(map[string]any)
		root = maps.Clone(root)
		if root == nil {
			root = map[string]any{}
		}
		loosen(root)
		root["type"] = "object"
		if properties, ok := root["properties"].(map[string]any); ok && properties["metadata"] != nil {
			properties["metadata"] = map[string]any{} // the API server itself checks it
		}
		version["schema"] = map[string]any{"openAPIV3Schema": root}
	}
	spec["versions"] = versions
	if spec["scope"] == nil {
		spec["scope"] = "Namespaced"
	}
	for _, field := range []string{"version", "validation", "subresources", "additionalPrinterColumns", "preserveUnknownFields"} {
		delete(spec, field)
	}
	return obj
}

// loosen leaves out of a schema what v1 demands or forbids and v1beta1 did not: the marks that a value may be anything or either a
// number or a text, with the alternative types that say the latter, types that follow from what is said about properties or items,
// and uniqueItems.
func loosen(node map[string]any) {
	for _, mark := range []string{"x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string", "uniqueItems"} {
		delete(node, mark)
	}
	for _, junctor := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := node[junctor].([]any)
		if !slices.ContainsFunc(list, func(item any) bool { m, _ := item.(map[string]any); return len(m) != 1 || m["type"] == nil }) {
			delete(node, junctor)
		}
	}
	if node["properties"] != nil || node["items"] != nil || node["additionalProperties"] != nil {
		delete(node, "type")
	}
	for _, below := range []string{"items", "additionalProperties"} {
		if m, ok := node[below].(map[string]any); ok {
			loosen(m)
		}
	}
	properties, _ := node["properties"].(map[string]any)
	for _, property := range properties {
		if m, ok := property.(map[string]any); ok {
			loosen(m)
		}
	}
}
