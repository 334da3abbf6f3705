// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// customResourceDefinition: what could be said once for all versions has to be said for each, every version needs a
// schema, and unknown fields, which were kept unless told otherwise, are kept by a mark in that schema.
func customResourceDefinition(obj *unstructured.Unstructured) error {
	spec, _, err := unstructured.NestedMap(obj.Object, "spec")
	if err != nil {
		return err
	}
	if spec == nil {
		return errors.New("it has no spec")
	}
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		if spec["version"] == nil {
			return errors.New("it has neither spec.version nor spec.versions")
		}
		versions = []any{map[string]any{"name": spec["version"], "served": true, "storage": true}}
	}
	keep, said := spec["preserveUnknownFields"].(bool)
	keep = keep || !said
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok {
			definitionVersion(version, spec, keep)
		}
	}
	spec["versions"] = versions
	for _, field := range []string{"version", "validation", "subresources", "additionalPrinterColumns", "preserveUnknownFields"} {
		delete(spec, field)
	}
	if spec["scope"] == nil {
		spec["scope"] = "Namespaced"
	}
	definitionConversion(spec)
	approval(obj, spec)
	unstructured.RemoveNestedField(obj.Object, "status")
	return unstructured.SetNestedMap(obj.Object, spec, "spec")
}

// approval: v1 wants to know of definitions in Kubernetes' own groups whether they were reviewed, which v1beta1 did not ask.
func approval(obj *unstructured.Unstructured, spec map[string]any) {
	const annotation = "api-approved.kubernetes.io"
	group, _ := spec["group"].(string)
	if !strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, ".kubernetes.io") {
		return
	}
	if _, said := obj.GetAnnotations()[annotation]; !said {
		mergeStrings(obj.Object, map[string]string{annotation: "unapproved, written as apiextensions.k8s.io/v1beta1"}, "metadata", "annotations")
	}
}

func definitionVersion(version, spec map[string]any, keep bool) {
	inherit := func(field string, from any) {
		if version[field] == nil && from != nil {
			version[field] = from
		}
	}
	inherit("schema", spec["validation"])
	inherit("subresources", spec["subresources"])
	inherit("additionalPrinterColumns", spec["additionalPrinterColumns"])
	schema, _ := version["schema"].(map[string]any)
	root, _ := schema["openAPIV3Schema"].(map[string]any)
	if root == nil {
		root = map[string]any{}
		version["schema"] = map[string]any{"openAPIV3Schema": root}
	}
	if root["type"] == nil {
		root["type"] = "object"
	}
	structural(root)
	if m, ok := root["properties"].(map[string]any); ok && m["metadata"] != nil {
		m["metadata"] = map[string]any{"type": "object"} // v1 allows little else here, and nothing was checked
	}
	if keep {
		root[anything] = true
	}
	columns, _ := version["additionalPrinterColumns"].([]any)
	for _, c := range columns {
		if column, ok := c.(map[string]any); ok && column["JSONPath"] != nil {
			column["jsonPath"] = column["JSONPath"]
			delete(column, "JSONPath")
		}
	}
}

func definitionConversion(spec map[string]any) {
	conversion, _ := spec["conversion"].(map[string]any)
	if conversion == nil || conversion["strategy"] != "Webhook" {
		return
	}
	reviews := conversion["conversionReviewVersions"]
	if reviews == nil {
		reviews = []any{"v1beta1"}
	}
	webhook := map[string]any{"conversionReviewVersions": reviews}
	if c := conversion["webhookClientConfig"]; c != nil {
		webhook["clientConfig"] = c
	}
	spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": webhook}
}
