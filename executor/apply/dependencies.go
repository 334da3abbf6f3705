// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// AnnotationDependenciesHash is on pod templates; it changes, and with it the pods, when what they mount changes.
	AnnotationDependenciesHash = "kudo.dev/dependencies-hash"
	// AnnotationSkipHash on a ConfigMap or Secret keeps it out of the hash; its author wants no restarts.
	AnnotationSkipHash = "kudo.dev/skip-hash-calculation"
)

var dependencyResources = map[string]schema.GroupVersionResource{
	"ConfigMap": {Version: "v1", Resource: "configmaps"},
	"Secret":    {Version: "v1", Resource: "secrets"},
}

// dependency is a ConfigMap or Secret that a pod template uses.
type dependency struct{ kind, name string }

// MarkDependencies puts the hash of the ConfigMaps and Secrets that the pod template of a prepared object uses on that
// template. They are looked for among siblings, the prepared objects of the same task, and then in the cluster. An object
// without a pod template, or whose template uses none, is left as it is.
func (c *Client) MarkDependencies(ctx context.Context, obj *unstructured.Unstructured, siblings []*unstructured.Unstructured) error {
	path := templatePath(obj.GroupVersionKind().GroupKind())
	if path == nil {
		return nil
	}
	template, _, _ := unstructured.NestedMap(obj.Object, path...)
	dependencies := dependenciesOf(template)
	if len(dependencies) == 0 {
		return nil
	}
	var sums []byte
	for _, d := range dependencies {
		source, err := c.source(ctx, d, obj.GetNamespace(), siblings)
		if err != nil {
			return fmt.Errorf("%s %s, which %s %s uses, cannot be read: %w", d.kind, d.name, obj.GetKind(), obj.GetName(), err)
		}
		sum, err := contentSum(source)
		if err != nil {
			return fmt.Errorf("%s %s, which %s %s uses: %w", d.kind, d.name, obj.GetKind(), obj.GetName(), err)
		}
		sums = append(sums, sum[:]...)
	}
	setTemplateAnnotations(obj, map[string]string{AnnotationDependenciesHash: hexSum(sums)})
	return nil
}

// dependenciesOf lists, sorted, the pull secrets and the volumes of a pod template. As in KUDO environment variables and
// projected volumes do not count, and what is used twice counts twice.
func dependenciesOf(template map[string]any) []dependency {
	var out []dependency
	collect := func(kind, list string, path ...string) {
		items, _, _ := unstructured.NestedSlice(template, "spec", list)
		for _, item := range items {
			m, _ := item.(map[string]any)
			if name, _, _ := unstructured.NestedString(m, path...); name != "" {
				out = append(out, dependency{kind, name})
			}
		}
	}
	collect("Secret", "imagePullSecrets", "name")
	collect("ConfigMap", "volumes", "configMap", "name")
	collect("Secret", "volumes", "secret", "secretName")
	slices.SortFunc(out, func(a, b dependency) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	return out
}

// source is the content of a dependency as a template gave it, nil if there is none or it does not count.
func (c *Client) source(ctx context.Context, d dependency, namespace string, siblings []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	source, err := c.sourceObject(ctx, d, namespace, siblings)
	if err != nil || source == nil {
		return nil, err
	}
	if _, skip := source.GetAnnotations()[AnnotationSkipHash]; skip {
		return nil, nil
	}
	return source, nil
}

func (c *Client) sourceObject(ctx context.Context, d dependency, namespace string, siblings []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for _, s := range siblings {
		if s.GetAPIVersion() == "v1" && s.GetKind() == d.kind && s.GetName() == d.name && s.GetNamespace() == namespace {
			return s, nil
		}
	}
	live, err := c.Get(ctx, Ref{Resource: Resource{GroupVersionResource: dependencyResources[d.kind], Namespaced: true}, Kind: d.kind, Namespace: namespace, Name: d.name})
	if err != nil || live == nil {
		return nil, err
	}
	if last, ok := live.GetAnnotations()[AnnotationLastApplied]; ok {
		object := map[string]any{}
		if err := json.Unmarshal([]byte(last), &object); err == nil {
			return &unstructured.Unstructured{Object: object}, nil
		}
	}
	return live, nil
}
