// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
	"kudo.dev/kudo/render"
)

// item is an object of a template on its way into the cluster or out of it.
type item struct {
	template string
	object   *unstructured.Unstructured
	// resolved says that ref and the marks on the object are final.
	resolved bool
	ref      apply.Ref
}

func (i *item) id() inventory.ID {
	return inventory.ID{Group: i.ref.Group, Kind: i.ref.Kind, Namespace: i.ref.Namespace, Name: i.ref.Name}
}

// renderAll makes the objects of templates, in the order of the templates and of the documents in them. A template that is listed twice
// counts once.
func renderAll(ctx context.Context, env Env, resources []string) ([]*item, error) {
	var out []*item
	for at, name := range resources {
		if slices.Contains(resources[:at], name) {
			continue
		}
		text, err := env.text(ctx, name, env.Variables)
		if err != nil {
			return nil, err
		}
		objects, err := render.Objects(name, text)
		if err != nil {
			return nil, &fault.Final{Reason: fault.ReasonRendering, Err: err}
		}
		for _, o := range objects {
			out = append(out, &item{template: name, object: o})
		}
	}
	return out, nil
}

// resolve finds the resource of an object and marks the object as the Instance's.
func (i *item) resolve(ctx context.Context, env Env) (warning string, err error) {
	if i.resolved {
		return "", nil
	}
	r, warning, err := env.Client.Kinds.Resolve(ctx, i.object, i.template)
	if err != nil {
		return "", err
	}
	if err := apply.Prepare(i.object, r.Namespaced, env.Identity); err != nil {
		return warning, fmt.Errorf("template %q: %w", i.template, err)
	}
	i.ref = apply.RefOf(i.object, r)
	if err := checkLimit(i.ref, i.object); err != nil {
		return warning, fmt.Errorf("template %q: %w", i.template, err)
	}
	i.resolved = true
	return warning, nil
}

// resolveAll resolves all objects before the first one is applied, so that a package that cannot work changes nothing.
// Objects whose kind an earlier object of the same task defines, and those whose kind may come, are left for later.
func resolveAll(ctx context.Context, env Env, items []*item) (warnings []string, err error) {
	defined := map[schema.GroupKind]bool{}
	for _, i := range items {
		warning, err := i.resolve(ctx, env)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		if err != nil && !defined[i.object.GroupVersionKind().GroupKind()] {
			if _, final := fault.Classify(err); final {
				return warnings, err
			}
		}
		if gk := apply.Defines(i.object); !gk.Empty() {
			defined[gk] = true
		}
	}
	return warnings, nil
}
