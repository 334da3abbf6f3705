// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PipePod reads the pod of a Pipe task from a rendered template, which the parameter name names in errors. The pod
// needs no name, as the task gives it one, and no apiVersion or kind; KUDO asked for none of them, and packages in
// the field leave the name out. What the pod has to contain is for the Pipe task to check.
func PipePod(name, text string) (*unstructured.Unstructured, error) {
	var pod *unstructured.Unstructured
	for _, doc := range documents(text) {
		where := fmt.Sprintf("template %q, document %d (line %d)", name, doc.number, doc.line)
		content, err := decode(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if content == nil {
			continue
		}
		object, ok := content.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: it is %s, not a Pod", where, kindOf(content))
		}
		if pod != nil {
			return nil, fmt.Errorf("%s: a Pipe task runs one pod, but here is a second; remove it or give it a task of its own", where)
		}
		for field, want := range map[string]string{"apiVersion": "v1", "kind": "Pod"} {
			if got, ok := object[field]; ok && got != want {
				return nil, fmt.Errorf("%s: a Pipe task needs a Pod of apiVersion v1, but %s is %v", where, field, got)
			}
			object[field] = want
		}
		if object["metadata"] == nil {
			object["metadata"] = map[string]any{}
		}
		if _, ok := object["metadata"].(map[string]any); !ok {
			return nil, fmt.Errorf("%s: metadata is %s, not a mapping", where, kindOf(object["metadata"]))
		}
		pod = &unstructured.Unstructured{Object: object}
	}
	if pod == nil {
		return nil, fmt.Errorf("template %q: it is empty, but a Pipe task needs a Pod", name)
	}
	return pod, nil
}
