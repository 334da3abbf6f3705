// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"maps"

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
// v1beta1 says once for all versions what v1 says for each. What v1 has to say and v1beta1 took for granted is that unknown fields
// are kept, that the root of a schema is an object, and that the scope is the namespace; and, of a group that looks like one of
// Kubernetes' own, by an annotation, whether Kubernetes has approved it.
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
		root["type"], root["x-kubernetes-preserve-unknown-fields"] = "object", true
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
