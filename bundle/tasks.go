// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"fmt"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// TaskFaults finds the faults of tasks with which no plan could run. They are those that KUDO refuses whenever a package is
// installed; everything else is left to the verification of packages.
func (p *Package) TaskFaults() []*Fault {
	var faults []*Fault
	for i := range p.Operator.Tasks {
		c := taskCheck{p: p, index: i, task: &p.Operator.Tasks[i]}
		c.check()
		faults = append(faults, c.faults...)
	}
	return faults
}

// taskCheck checks one task against the templates of its package.
type taskCheck struct {
	p      *Package
	index  int
	task   *v1beta1.Task
	faults []*Fault
}

// add records what is wrong at a path below the task.
func (c *taskCheck) add(message string, path ...any) {
	path = append([]any{"tasks", c.index}, path...)
	c.faults = append(c.faults, c.p.fault(OperatorFileName, fmt.Sprintf("tasks[%d] %q: %s", c.index, c.task.Name, message), path...))
}

// template checks that a template exists.
func (c *taskCheck) template(field, name string, path ...any) {
	if _, ok := c.p.Templates[name]; !ok {
		c.add(fmt.Sprintf("%s: there is no template %q; add the file %s/%s or correct the name", field, name, templatesFolder, name), path...)
	}
}

func (c *taskCheck) check() {
	spec := &c.task.Spec
	switch c.task.Kind {
	case v1beta1.ApplyTaskKind, v1beta1.DeleteTaskKind, v1beta1.ToggleTaskKind:
		for i, name := range spec.Resources {
			c.template(fmt.Sprintf("spec.resources[%d]", i), name, "spec", "resources", i)
		}
		if c.task.Kind == v1beta1.ToggleTaskKind && spec.Parameter == "" {
			c.add("spec.parameter is missing; a Toggle needs the name of a boolean parameter", "spec")
		}
	case v1beta1.PipeTaskKind:
		c.template("spec.pod", spec.Pod, "spec", "pod")
		if len(spec.Pipe) == 0 {
			c.add("spec.pipe is missing; a Pipe needs at least one file to store", "spec", "pipe")
		}
	case v1beta1.KudoOperatorTaskKind:
		if spec.ParameterFile != "" {
			c.template("spec.parameterFile", spec.ParameterFile, "spec", "parameterFile")
		}
	case v1beta1.DummyTaskKind:
	default:
		c.add(fmt.Sprintf("there is no task kind %q; there are Apply, Delete, Toggle, Pipe, KudoOperator and Dummy", c.task.Kind), "kind")
	}
}
