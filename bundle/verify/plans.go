// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// taskReferences compares the tasks that plans name with those that are defined.
func taskReferences(c *checker) {
	defined, used := map[string]bool{}, map[string]bool{}
	for _, task := range c.p.Operator.Tasks {
		defined[task.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.p.Operator.Plans)) {
		for i, phase := range c.p.Operator.Plans[name].Phases {
			for j, step := range phase.Steps {
				for k, task := range step.Tasks {
					used[task] = true
					if !defined[task] {
						c.operator(Error, at("plans", name, "phases", i, "steps", j, "tasks", k), "plan %q: step %q of phase %q uses the task %q, which is not defined; add it to tasks or correct the name", name, step.Name, phase.Name, task)
					}
				}
			}
		}
	}
	for i, task := range c.p.Operator.Tasks {
		if task.Name != "" && !used[task.Name] {
			c.operator(Warning, at("tasks", i), "task %q defined but not used in any plan", task.Name)
		}
	}
}

// plans checks what the server would refuse in plans, and that there is one to install an Instance with.
func plans(c *checker) {
	if _, ok := c.p.Operator.Plans["deploy"]; !ok {
		c.operator(Error, at("plans"), "there is no plan \"deploy\", which runs when an Instance is created; add it to plans")
	}
	for _, name := range slices.Sorted(maps.Keys(c.p.Operator.Plans)) {
		plan, path := c.p.Operator.Plans[name], at("plans", name)
		if faults := utilvalidation.IsDNS1123Label(name); len(faults) > 0 {
			c.operator(Error, path, "plan %q: the name of a plan is part of a permission, so it has to be a DNS label: %s", name, strings.Join(faults, "; "))
		}
		where := fmt.Sprintf("plan %q", name)
		c.strategy(plan.Strategy, below(path, "strategy"), where)
		phases := map[string]bool{}
		for i, phase := range plan.Phases {
			path := below(path, "phases", i)
			c.unique(phases, phase.Name, path, "a phase of "+where)
			inPhase := fmt.Sprintf("phase %q of %s", phase.Name, where)
			c.strategy(phase.Strategy, below(path, "strategy"), inPhase)
			steps := map[string]bool{}
			for j, step := range phase.Steps {
				path := below(path, "steps", j)
				c.unique(steps, step.Name, path, "a step of "+inPhase)
				if len(step.Tasks) == 0 {
					c.operator(Warning, path, "step %q of %s has no tasks, so it does nothing", step.Name, inPhase)
				}
			}
		}
		c.pipeKeys(name, plan)
	}
}

func (c *checker) strategy(strategy v1beta1.Ordering, path []any, where string) {
	if strategy != "" && strategy != v1beta1.Serial && strategy != v1beta1.Parallel {
		c.operator(Error, path, "%s: there is no strategy %q; there are serial and parallel", where, strategy)
	}
}

// unique finds names that are missing or there twice: a run reports its progress by name.
func (c *checker) unique(seen map[string]bool, name string, path []any, what string) {
	switch {
	case name == "":
		c.operator(Error, path, "%s has no name", what)
	case seen[name]:
		c.operator(Error, below(path, "name"), "%s has the name %q, which another one has too", what, name)
	}
	seen[name] = true
}

// planPipes returns the keys under which the Pipe tasks of a plan store files, each with the task, and those that are there
// twice.
func (c *checker) planPipes(plan v1beta1.Plan) (by map[string]string, twice []string) {
	by = map[string]string{}
	tasks := map[string]*v1beta1.Task{}
	for i := range c.p.Operator.Tasks {
		tasks[c.p.Operator.Tasks[i].Name] = &c.p.Operator.Tasks[i]
	}
	for _, phase := range plan.Phases {
		for _, step := range phase.Steps {
			for _, name := range step.Tasks {
				task := tasks[name]
				if task == nil || task.Kind != v1beta1.PipeTaskKind {
					continue
				}
				for _, pipe := range task.Spec.Pipe {
					if _, taken := by[pipe.Key]; taken {
						twice = append(twice, pipe.Key)
					} else {
						by[pipe.Key] = name
					}
				}
			}
		}
	}
	return by, twice
}

// pipeKeys finds keys that a plan stores twice: templates could not tell them apart.
func (c *checker) pipeKeys(name string, plan v1beta1.Plan) {
	by, twice := c.planPipes(plan)
	for _, key := range twice {
		c.operator(Error, at("plans", name), "plan %q: its Pipe tasks store two files under the key %q, first task %q; give each a key of its own", name, key, by[key])
	}
}
