// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// webhooks: what had a default has to be said, with the value that it had. A webhook that did not say that it has no side effects is taken
// to have none on a dry run, for v1 knows no unknown ones.
func webhooks(obj *unstructured.Unstructured) error {
	list, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "webhooks")
	hooks, _ := list.([]any)
	for _, h := range hooks {
		hook, ok := h.(map[string]any)
		if !ok {
			continue
		}
		for field, value := range map[string]any{"failurePolicy": "Ignore", "matchPolicy": "Exact", "timeoutSeconds": int64(30), "admissionReviewVersions": []any{"v1beta1"}} {
			if hook[field] == nil {
				hook[field] = value
			}
		}
		switch hook["sideEffects"] {
		case nil, "Unknown", "Some":
			hook["sideEffects"] = "NoneOnDryRun"
		}
	}
	return nil
}

// autoscaler: a metric names its target in another place.
func autoscaler(obj *unstructured.Unstructured) error {
	list, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "metrics")
	metrics, _ := list.([]any)
	for _, m := range metrics {
		metric, _ := m.(map[string]any)
		source, ok := metric["resource"].(map[string]any)
		if !ok {
			return errors.New("only metrics of the type Resource can be")
		}
		switch {
		case source["targetAverageUtilization"] != nil:
			source["target"] = map[string]any{"type": "Utilization", "averageUtilization": source["targetAverageUtilization"]}
		case source["targetAverageValue"] != nil:
			source["target"] = map[string]any{"type": "AverageValue", "averageValue": source["targetAverageValue"]}
		}
		delete(source, "targetAverageUtilization")
		delete(source, "targetAverageValue")
	}
	return nil
}
