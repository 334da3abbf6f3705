// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"errors"
	"fmt"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// checkTasks finds the faults with which no plan could run. They are those that KUDO refuses whenever a package is
// installed; everything else is left to the verification of packages.
func checkTasks(p *Package) error {
	var faults []error
	for i, task := range p.Operator.Tasks {
		for _, fault := range taskFaults(&task, p.Templates) {
			faults = append(faults, fmt.Errorf("%s: tasks[%d] %q: %w", OperatorFileName, i, task.Name, fault))
		}
	}
	return errors.Join(faults...)
}

// taskFaults checks one task against the templates of its package.
func taskFaults(task *v1beta1.Task, templates map[string]string) (faults []error) {
	spec := &task.Spec
	template := func(field, name string) {
		if _, ok := templates[name]; !ok {
			faults = append(faults, fmt.Errorf("%s: there is no template %q; add the file %s/%s or correct the name", field, name, templatesFolder, name))
		}
	}
	switch task.Kind {
	case v1beta1.ApplyTaskKind, v1beta1.DeleteTaskKind, v1beta1.ToggleTaskKind:
		for i, name := range spec.Resources {
			template(fmt.Sprintf("spec.resources[%d]", i), name)
		}
		if task.Kind == v1beta1.ToggleTaskKind && spec.Parameter == "" {
			faults = append(faults, errors.New("spec.parameter is missing; a Toggle needs the name of a boolean parameter"))
		}
	case v1beta1.PipeTaskKind:
		template("spec.pod", spec.Pod)
		if len(spec.Pipe) == 0 {
			faults = append(faults, errors.New("spec.pipe is missing; a Pipe needs at least one file to store"))
		}
	case v1beta1.KudoOperatorTaskKind:
		if spec.ParameterFile != "" {
			template("spec.parameterFile", spec.ParameterFile)
		}
	case v1beta1.DummyTaskKind:
	default:
		faults = append(faults, fmt.Errorf("there is no task kind %q; there are Apply, Delete, Toggle, Pipe, KudoOperator and Dummy", task.Kind))
	}
	return faults
}
