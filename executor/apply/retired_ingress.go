// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// ingress: backends name their service in another shape, the default backend has another name, and the type of a path,
// which was left to the controller, has to be given.
func ingress(obj *unstructured.Unstructured) error {
	spec, _, err := unstructured.NestedMap(obj.Object, "spec")
	if err != nil || spec == nil {
		return err
	}
	if b, ok := spec["backend"].(map[string]any); ok {
		spec["defaultBackend"] = ingressBackend(b)
		delete(spec, "backend")
	}
	rules, _ := spec["rules"].([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		http, _ := rule["http"].(map[string]any)
		paths, _ := http["paths"].([]any)
		for _, p := range paths {
			path, ok := p.(map[string]any)
			if !ok {
				continue
			}
			if b, ok := path["backend"].(map[string]any); ok {
				path["backend"] = ingressBackend(b)
			}
			if _, ok := path["pathType"]; !ok {
				path["pathType"] = "ImplementationSpecific"
			}
		}
	}
	return unstructured.SetNestedMap(obj.Object, spec, "spec")
}

func ingressBackend(old map[string]any) map[string]any {
	if _, ok := old["serviceName"]; !ok {
		return old
	}
	port := map[string]any{"number": old["servicePort"]}
	if name, ok := old["servicePort"].(string); ok {
		port = map[string]any{"name": name}
	}
	return map[string]any{"service": map[string]any{"name": old["serviceName"], "port": port}}
}
