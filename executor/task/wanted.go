// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"cmp"
	"context"
	"fmt"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/inventory"
	"kudo.dev/kudo/executor/pipe"
	"kudo.dev/kudo/render"
)

// Wanted are the objects that the plans of an operator would apply now, with the parameters of env. What a plan leaves out may be what
// another one applies: by another task, or by a condition on the name of the plan. Nothing is applied. An error says that it cannot be
// told, because a template cannot be rendered.
func Wanted(ctx context.Context, env Env, content *v1beta1.OperatorVersionSpec) (map[inventory.ID]bool, error) {
	tasks := map[string]v1beta1.Task{}
	for _, t := range content.Tasks {
		tasks[t.Name] = t
	}
	wanted := map[inventory.ID]bool{}
	for name, plan := range content.Plans {
		pipes, err := pipe.Names(env.Identity.Instance, name, &plan, content.Tasks)
		if err != nil {
			return nil, err
		}
		for _, p := range plan.Phases {
			for _, s := range p.Steps {
				v := env.Variables
				v.PlanName, v.PhaseName, v.StepName, v.Pipes = name, p.Name, s.Name, pipes
				for _, t := range s.Tasks {
					if err := want(ctx, env, tasks[t], v, wanted); err != nil {
						return nil, fmt.Errorf("plan %q, step %s.%s, task %q: %w", name, p.Name, s.Name, t, err)
					}
				}
			}
		}
	}
	return wanted, nil
}

// want adds what a task would apply.
func want(ctx context.Context, env Env, t v1beta1.Task, v render.Variables, wanted map[inventory.ID]bool) error {
	switch t.Kind {
	case v1beta1.ApplyTaskKind:
	case v1beta1.ToggleTaskKind:
		if on, err := boolean(v.Params, t.Spec.Parameter); err != nil || !on {
			return err
		}
	default:
		return nil
	}
	for _, name := range t.Spec.Resources {
		text, err := render.Template(name, env.Templates[name], v)
		if err != nil {
			return err
		}
		objects, err := render.Objects(name, text)
		if err != nil {
			return err
		}
		for _, o := range objects {
			i := &item{template: name, object: o}
			if _, err := i.resolve(ctx, env); err == nil {
				wanted[i.id()] = true
				continue
			}
			// Of a kind that the cluster does not have, or not now: it may have a namespace or not.
			gk := o.GroupVersionKind().GroupKind()
			wanted[inventory.ID{Group: gk.Group, Kind: gk.Kind, Name: o.GetName()}] = true
			wanted[inventory.ID{Group: gk.Group, Kind: gk.Kind, Name: o.GetName(), Namespace: cmp.Or(o.GetNamespace(), env.Identity.Namespace)}] = true
		}
	}
	return nil
}
