// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// templatePath is where an object holds its pod template, nil if it has none. As in KUDO the version does not count, and
// neither does the group of kinds that were in several.
func templatePath(gk schema.GroupKind) []string {
	switch {
	case gk == schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		return []string{"spec", "jobTemplate", "spec", "template"}
	case gk == schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, gk == schema.GroupKind{Group: "apps", Kind: "Deployment"},
		gk == schema.GroupKind{Group: "batch", Kind: "Job"},
		gk.Kind == "ReplicaSet", gk.Kind == "ReplicationController", gk.Kind == "DaemonSet":
		return []string{"spec", "template"}
	}
	return nil
}

// setLabels labels the object, the pods it makes and the claims it makes. Selectors are never touched.
func setLabels(obj *unstructured.Unstructured, labels map[string]string) {
	mergeStrings(obj.Object, labels, "metadata", "labels")
	gk := obj.GroupVersionKind().GroupKind()
	if path := templatePath(gk); path != nil {
		mergeStrings(obj.Object, labels, append(path, "metadata", "labels")...)
	}
	if gk.Kind == "StatefulSet" {
		// Not NestedSlice: the claims are changed in place.
		claims, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "volumeClaimTemplates")
		list, _ := claims.([]any)
		for _, c := range list {
			if m, ok := c.(map[string]any); ok {
				mergeStrings(m, labels, "metadata", "labels")
			}
		}
	}
}

func setTemplateAnnotations(obj *unstructured.Unstructured, annotations map[string]string) {
	if path := templatePath(obj.GroupVersionKind().GroupKind()); path != nil {
		mergeStrings(obj.Object, annotations, append(path, "metadata", "annotations")...)
	}
}

// mergeStrings adds entries to the map at a path and makes the path where it is absent or null. Where something else than
// a map is in the way it does nothing: the API server knows better than we how to say that a template is malformed.
func mergeStrings(obj map[string]any, entries map[string]string, path ...string) {
	at := obj
	for _, p := range path {
		next, exists := at[p]
		if !exists || next == nil {
			next = map[string]any{}
			at[p] = next
		}
		m, ok := next.(map[string]any)
		if !ok {
			return
		}
		at = m
	}
	for k, v := range entries {
		at[k] = v
	}
}
