// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
)

var (
	taskKinds = sets.New(kudo.ApplyTaskKind, kudo.DeleteTaskKind, kudo.ToggleTaskKind, kudo.DummyTaskKind, kudo.PipeTaskKind, kudo.KudoOperatorTaskKind)
	pipeKinds = sets.New("ConfigMap", "Secret")
)

// validateTasks checks the tasks of the plan deploy: every Instance begins with it, so with a task that nobody can carry out no
// Instance could ever be there. Tasks of other plans may be wrong, as packages in the field have such that are never run; a run that
// comes to one fails with the reason.
func validateTasks(spec *kudo.OperatorVersionSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	used := sets.New[string]()
	for _, phase := range spec.Plans[kudo.DeployPlanName].Phases {
		for _, step := range phase.Steps {
			used.Insert(step.Tasks...)
		}
	}
	for i := range spec.Tasks {
		if used.Has(spec.Tasks[i].Name) {
			errs = append(errs, validateTask(&spec.Tasks[i], spec, path.Index(i))...)
		}
	}
	return errs
}

// sameTasks tells whether an update leaves alone what validateTasks looks at. What is stored stays valid.
func sameTasks(a, b *kudo.OperatorVersionSpec) bool {
	return apiequality.Semantic.DeepEqual(a.Tasks, b.Tasks) && apiequality.Semantic.DeepEqual(a.Plans, b.Plans)
}

func validateTask(t *kudo.Task, spec *kudo.OperatorVersionSpec, path *field.Path) field.ErrorList {
	at := path.Child("spec")
	switch t.Kind {
	case kudo.ToggleTaskKind:
		if t.Spec.Parameter == "" {
			return field.ErrorList{field.Required(at.Child("parameter"), "a Toggle task applies or deletes as this boolean parameter says")}
		}
		if !slices.ContainsFunc(spec.Parameters, func(p kudo.Parameter) bool { return p.Name == t.Spec.Parameter }) {
			return field.ErrorList{field.NotFound(at.Child("parameter"), t.Spec.Parameter)}
		}
	case kudo.PipeTaskKind:
		return validatePipes(&t.Spec, at)
	case kudo.KudoOperatorTaskKind:
		var errs field.ErrorList
		for name, value := range map[string]string{"package": t.Spec.Package, "operatorVersion": t.Spec.OperatorVersion} {
			if value == "" {
				errs = append(errs, field.Required(at.Child(name), "it is part of the name of the child's OperatorVersion; kubectl kudo install fills it in"))
			}
		}
		return errs
	default:
		if !taskKinds.Has(t.Kind) {
			return field.ErrorList{field.NotSupported(path.Child("kind"), t.Kind, sets.List(taskKinds))}
		}
	}
	return nil
}

func validatePipes(spec *kudo.TaskSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Pod == "" {
		errs = append(errs, field.Required(path.Child("pod"), "name the template of the pod that writes the files"))
	}
	if len(spec.Pipe) == 0 {
		errs = append(errs, field.Required(path.Child("pipe"), "list the files to store"))
	}
	for i, p := range spec.Pipe {
		at := path.Child("pipe").Index(i)
		if (p.File == "") == (p.EnvFile == "") {
			errs = append(errs, field.Invalid(at, p.File+p.EnvFile, "must have either file or envFile"))
		}
		if !pipeKinds.Has(p.Kind) {
			errs = append(errs, field.NotSupported(at.Child("kind"), p.Kind, sets.List(pipeKinds)))
		}
		if p.Key == "" {
			errs = append(errs, field.Required(at.Child("key"), "templates find the object under it in .Pipes"))
		}
	}
	return errs
}
