// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// condition returns status, reason and message of a condition, empty if the object has none of that type.
func condition(obj *unstructured.Unstructured, kind string) (value, reason, message string) {
	c := wholeCondition(obj, kind)
	value, _ = c["status"].(string)
	reason, _ = c["reason"].(string)
	message, _ = c["message"].(string)
	return value, reason, message
}

func wholeCondition(obj *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

func integer(obj *unstructured.Unstructured, otherwise int64, path ...string) int64 {
	v, ok, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
	if !ok || err != nil {
		return otherwise
	}
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return otherwise
}

func text(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}

func observed(obj *unstructured.Unstructured) (int64, bool) {
	v := integer(obj, -1, "status", "observedGeneration")
	return v, v >= 0
}
