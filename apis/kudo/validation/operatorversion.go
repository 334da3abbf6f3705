// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
)

// ValidateOperatorVersion checks an OperatorVersion. Plans may refer to tasks and templates that do not exist: KUDO accepts
// them, and packages in the field carry such plans without running them. A run that meets one fails with the reason. Tasks of
// the plan deploy that nobody can carry out are refused.
func ValidateOperatorVersion(ov *kudo.OperatorVersion) field.ErrorList {
	errs := validation.ValidateObjectMeta(&ov.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validateTasks(&ov.Spec, field.NewPath("spec", "tasks"))...)
	return append(errs, validateOperatorVersionSpec(&ov.Spec, field.NewPath("spec"))...)
}

// ValidateOperatorVersionUpdate checks a changed OperatorVersion.
func ValidateOperatorVersionUpdate(ov, old *kudo.OperatorVersion) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&ov.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	if !sameTasks(&ov.Spec, &old.Spec) {
		errs = append(errs, validateTasks(&ov.Spec, field.NewPath("spec", "tasks"))...)
	}
	return append(errs, validateOperatorVersionSpec(&ov.Spec, field.NewPath("spec"))...)
}

func validateOperatorVersionSpec(spec *kudo.OperatorVersionSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, plan := range spec.Plans {
		errs = append(errs, validatePlan(name, &plan, path.Child("plans").Key(name))...)
	}
	errs = append(errs, validateParameters(spec.Parameters, path.Child("parameters"))...)
	return errs
}

var orderings = sets.New(kudo.Serial, kudo.Parallel)

// validatePlan also checks the name, because it becomes part of a permission (the verb trigger:<plan>) and of a path.
func validatePlan(name string, plan *kudo.Plan, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range utilvalidation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, "plan name: "+message))
	}
	errs = append(errs, validateOrdering(plan.Strategy, path.Child("strategy"))...)
	phases := sets.New[string]()
	for i, phase := range plan.Phases {
		at := path.Child("phases").Index(i)
		errs = append(errs, uniqueName(phases, phase.Name, at.Child("name"))...)
		errs = append(errs, validateOrdering(phase.Strategy, at.Child("strategy"))...)
		steps := sets.New[string]()
		for j, step := range phase.Steps {
			errs = append(errs, uniqueName(steps, step.Name, at.Child("steps").Index(j).Child("name"))...)
		}
	}
	return errs
}

func validateOrdering(o kudo.Ordering, path *field.Path) field.ErrorList {
	if o == "" || orderings.Has(o) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, o, sets.List(orderings))}
}

// uniqueName refuses empty and repeated names: the status of a run has one entry per name.
func uniqueName(seen sets.Set[string], name string, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "a run reports its progress by name")}
	case seen.Has(name):
		return field.ErrorList{field.Duplicate(path, name)}
	}
	seen.Insert(name)
	return nil
}

func validateParameters(parameters []kudo.Parameter, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, p := range parameters {
		switch {
		case p.Name == "":
			errs = append(errs, field.Required(path.Index(i).Child("name"), ""))
		case seen.Has(p.Name):
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), p.Name))
		}
		seen.Insert(p.Name)
	}
	return errs
}
