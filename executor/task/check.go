// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"fmt"
	"strings"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/pipe"
)

// Check fails if a Pipe or KudoOperator task of a plan cannot be carried out as it is written. It is asked before the first step, for a
// plan that makes pods and Instances should not stop in the middle for such a reason. The error is final.
func Check(planName string, content *v1beta1.OperatorVersionSpec) error {
	defined := map[string]*v1beta1.Task{}
	for i := range content.Tasks {
		defined[content.Tasks[i].Name] = &content.Tasks[i]
	}
	for _, phase := range content.Plans[planName].Phases {
		for _, step := range phase.Steps {
			for _, name := range step.Tasks {
				reason, err := check(defined[name], content.Templates)
				if err != nil {
					where := strings.Join([]string{planName, phase.Name, step.Name, name}, ".")
					return fault.Finalf(reason, "%s: the task cannot be carried out: %w; correct the operator package", where, err)
				}
			}
		}
	}
	return nil
}

func check(t *v1beta1.Task, templates map[string]string) (reason string, err error) {
	template := func(field, name string) error {
		if _, ok := templates[name]; !ok {
			return fmt.Errorf("spec.%s names the template %q, which the OperatorVersion does not have", field, name)
		}
		return nil
	}
	switch {
	case t == nil: // another check is about that
	case t.Kind == v1beta1.PipeTaskKind:
		if err := pipe.Check(&t.Spec); err != nil {
			return fault.ReasonPipe, err
		}
		return fault.ReasonRendering, template("pod", t.Spec.Pod)
	case t.Kind == v1beta1.KudoOperatorTaskKind:
		if t.Spec.Package == "" || t.Spec.OperatorVersion == "" {
			return fault.ReasonTaskKind, fmt.Errorf("it has the package %q and the operatorVersion %q, but needs both; kubectl kudo install fills them in", t.Spec.Package, t.Spec.OperatorVersion)
		}
		if t.Spec.ParameterFile != "" {
			return fault.ReasonRendering, template("parameterFile", t.Spec.ParameterFile)
		}
	}
	return "", nil
}
