// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"fmt"
	"math"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
)

// ValidatePlanExecution checks a PlanExecution by itself; whether its Instance and plan exist is for the registry.
func ValidatePlanExecution(pe *kudo.PlanExecution) field.ErrorList {
	errs := validation.ValidateObjectMeta(&pe.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, ValidatePlanExecutionSpec(&pe.Spec, field.NewPath("spec"))...)
}

// ValidatePlanExecutionSpec checks what is asked for.
func ValidatePlanExecutionSpec(spec *kudo.PlanExecutionSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.InstanceName == "" {
		errs = append(errs, field.Required(path.Child("instanceName"), "name the Instance whose plan is to run"))
	} else {
		for _, message := range validation.NameIsDNSSubdomain(spec.InstanceName, false) {
			errs = append(errs, field.Invalid(path.Child("instanceName"), spec.InstanceName, message))
		}
	}
	if spec.PlanName == "" {
		errs = append(errs, field.Required(path.Child("planName"), "name the plan to run"))
	} else {
		for _, message := range utilvalidation.IsDNS1123Label(spec.PlanName) {
			errs = append(errs, field.Invalid(path.Child("planName"), spec.PlanName, message))
		}
	}
	return append(errs, validateRunLimits(spec, path)...)
}

// maxDeadlineSeconds is as many seconds as a time.Duration can hold.
const maxDeadlineSeconds = math.MaxInt64 / int64(time.Second)

func validateRunLimits(spec *kudo.PlanExecutionSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := spec.ActiveDeadlineSeconds; s != nil && (*s <= 0 || *s > maxDeadlineSeconds) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *s, fmt.Sprintf("must be greater than 0 and at most %d; leave it out for no limit", maxDeadlineSeconds)))
	}
	if s := spec.TTLSecondsAfterFinished; s != nil && *s < 0 {
		errs = append(errs, field.Invalid(path.Child("ttlSecondsAfterFinished"), *s, "must not be negative"))
	}
	return errs
}

// ValidatePlanExecutionUpdate checks a changed PlanExecution: a run keeps what it started with. Only suspend,
// activeDeadlineSeconds and ttlSecondsAfterFinished can be changed.
func ValidatePlanExecutionUpdate(pe, old *kudo.PlanExecution) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&pe.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	path := field.NewPath("spec")
	const detail = "a run keeps what it started with; create another PlanExecution instead"
	immutable := func(name string, now, before any) {
		if !apiequality.Semantic.DeepEqual(now, before) {
			errs = append(errs, field.Forbidden(path.Child(name), detail))
		}
	}
	immutable("instanceName", pe.Spec.InstanceName, old.Spec.InstanceName)
	immutable("planName", pe.Spec.PlanName, old.Spec.PlanName)
	immutable("parameters", pe.Spec.Parameters, old.Spec.Parameters)
	return append(errs, validateRunLimits(&pe.Spec, path)...)
}

// ValidatePlanExecutionStatusUpdate checks a changed status of a PlanExecution. The end of a run is final.
func ValidatePlanExecutionStatusUpdate(pe, old *kudo.PlanExecution) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&pe.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	path := field.NewPath("status")
	if old.Status.Status.IsTerminal() && !apiequality.Semantic.DeepEqual(pe.Status, old.Status) {
		errs = append(errs, field.Forbidden(path, "the run has ended with "+string(old.Status.Status)+"; its status is history"))
	}
	errs = append(errs, validateTree(&pe.Status, path)...)
	if pe.Status.Status == kudo.ExecutionPending && old.Status.Status.IsRunning() && old.Status.Status != kudo.ExecutionPending {
		errs = append(errs, field.Forbidden(path.Child("status"), "a run that has begun cannot be pending again"))
	}
	return append(errs, metav1validation.ValidateConditions(pe.Status.Conditions, path.Child("conditions"))...)
}

var executionStatuses = sets.New(kudo.ExecutionPending, kudo.ExecutionInProgress, kudo.ErrorStatus, kudo.ExecutionComplete, kudo.ExecutionFatalError)

// validateTree refuses words that are no status: a run with one would never end.
func validateTree(status *kudo.PlanExecutionStatus, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(s kudo.ExecutionStatus, at *field.Path) {
		if !executionStatuses.Has(s) {
			errs = append(errs, field.NotSupported(at.Child("status"), s, sets.List(executionStatuses)))
		}
	}
	check(status.Status, path)
	for i, phase := range status.Phases {
		at := path.Child("phases").Index(i)
		check(phase.Status, at)
		for j, step := range phase.Steps {
			at := at.Child("steps").Index(j)
			check(step.Status, at)
			for k, task := range step.Tasks {
				check(task.Status, at.Child("tasks").Index(k))
			}
		}
	}
	return errs
}

// ValidatePlanExecutionLogOptions checks the query of the log of a run. An empty format is text.
func ValidatePlanExecutionLogOptions(o *kudo.PlanExecutionLogOptions) field.ErrorList {
	var errs field.ErrorList
	if o.Format != "" && o.Format != kudo.TextLogFormat && o.Format != kudo.JSONLogFormat {
		errs = append(errs, field.NotSupported(field.NewPath("format"), o.Format, []string{kudo.TextLogFormat, kudo.JSONLogFormat}))
	}
	if o.SinceSequence < 0 {
		errs = append(errs, field.Invalid(field.NewPath("sinceSequence"), o.SinceSequence, "must not be negative: it is the number of the last entry you have, or 0 for all entries"))
	}
	return errs
}
