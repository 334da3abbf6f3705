// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"maps"
	"slices"
	"strings"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// variables are what templates see besides Params and Pipes.
var variables = []string{"AppVersion", "Name", "Namespace", "OperatorName", "OperatorVersion", "PhaseName", "PlanName", "StepName"}

// parameterUses compares the parameters and variables that templates use with those that there are.
func parameterUses(c *checker) {
	defined, used, all := map[string]bool{}, map[string]bool{}, false
	for _, p := range c.p.Params.Parameters {
		defined[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.uses)) {
		u := c.uses[name]
		all = all || u.allParams
		for _, parameter := range slices.Sorted(maps.Keys(u.params)) {
			used[parameter] = true
			if line := u.params[parameter]; line > 0 && !defined[parameter] {
				c.template(Error, name, line, "parameter %q in template %s is not defined; add it to params.yaml or correct .Params.%s", parameter, name, parameter)
			}
		}
		for _, variable := range slices.Sorted(maps.Keys(u.variables)) {
			if !slices.Contains(variables, variable) {
				c.template(Error, name, u.variables[variable], "template %s uses the variable %q, which there is not; there are %s, Params and Pipes", name, "."+variable, strings.Join(variables, ", "))
			}
		}
	}
	for _, task := range c.p.Operator.Tasks {
		if task.Kind == v1beta1.ToggleTaskKind {
			used[task.Spec.Parameter] = true
		}
	}
	for i, p := range c.p.Params.Parameters {
		// A parameter may be there to start a plan only.
		if p.Name != "" && !used[p.Name] && !all && p.Trigger == "" {
			c.params(Warning, at("parameters", i), "parameter %q defined but not used.", p.Name)
		}
	}
}

// taskTemplates calls each for every template that a task names.
func taskTemplates(task *v1beta1.Task, each func(name string)) {
	switch task.Kind {
	case v1beta1.ApplyTaskKind, v1beta1.DeleteTaskKind, v1beta1.ToggleTaskKind:
		for _, name := range task.Spec.Resources {
			each(name)
		}
	case v1beta1.PipeTaskKind:
		each(task.Spec.Pod)
	case v1beta1.KudoOperatorTaskKind:
		each(task.Spec.ParameterFile)
	}
}

// templateReferences finds templates that no task uses, and pipes that a template expects of a plan that has none.
func templateReferences(c *checker) {
	used := map[string]bool{c.p.Operator.NamespaceManifest: true}
	tasks := map[string]*v1beta1.Task{}
	for i := range c.p.Operator.Tasks {
		task := &c.p.Operator.Tasks[i]
		tasks[task.Name] = task
		taskTemplates(task, func(name string) { used[name] = true })
	}
	for _, name := range slices.Sorted(maps.Keys(c.p.Templates)) {
		if !used[name] {
			c.template(Warning, name, 0, "template %q is not referenced by any task; remove it, or name it in the spec of a task", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.p.Operator.Plans)) {
		plan := c.p.Operator.Plans[name]
		stored, _ := c.planPipes(plan)
		for _, phase := range plan.Phases {
			for _, step := range phase.Steps {
				for _, task := range step.Tasks {
					if tasks[task] == nil {
						continue
					}
					taskTemplates(tasks[task], func(template string) { c.missingPipes(template, name, stored) })
				}
			}
		}
	}
}

// missingPipes finds pipes that a template uses and the plan does not store. It is a warning because the template may ask
// for the plan first.
func (c *checker) missingPipes(template, plan string, stored map[string]string) {
	u := c.uses[template]
	if u == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(u.pipes)) {
		if _, ok := stored[key]; !ok {
			c.template(Warning, template, u.pipes[key], "the plan %q uses this template, but none of its Pipe tasks stores .Pipes.%s", plan, key)
		}
	}
}
