// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// hasUnknownFields recognises the answer of server-side apply to a field that the schema does not have.
func hasUnknownFields(err error) bool {
	return strings.Contains(err.Error(), "field not declared in schema")
}

// dropUnknownFields removes from an object of a built-in kind the fields that the kind does not have, and names them. It
// removes nothing from other kinds, nor if a known field has the wrong type, which is then the error to report.
func dropUnknownFields(obj *unstructured.Unstructured) []string {
	typed, err := scheme.Scheme.New(obj.GroupVersionKind())
	if err != nil {
		return nil
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, typed, true)
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		return nil
	}
	unknown := map[string]bool{}
	for _, e := range strict.Errors() {
		if path, ok := strings.CutPrefix(e.Error(), "unknown field "); ok {
			unknown[strings.Trim(path, `"`)] = true
		}
	}
	dropped := without(obj.Object, unknown, "")
	slices.Sort(dropped)
	return dropped
}

// without removes the fields at the given paths and returns those it found. A list item is written list[i].
func without(obj map[string]any, paths map[string]bool, prefix string) (dropped []string) {
	for key, value := range obj {
		path := prefix + key
		if paths[path] {
			delete(obj, key)
			dropped = append(dropped, path)
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			dropped = append(dropped, without(v, paths, path+".")...)
		case []any:
			for i := range v {
				if m, ok := v[i].(map[string]any); ok {
					dropped = append(dropped, without(m, paths, fmt.Sprintf("%s[%d].", path, i))...)
				}
			}
		}
	}
	return dropped
}
