// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/store"
)

type strategy struct{ store.Strategy }

// PrepareForCreate starts the generation at 1. What the server stamps into a run is written by REST.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*kudo.PlanExecution).Generation = 1
}

// PrepareForUpdate keeps the status and what the server stamped, and counts changes of the spec. Owners may be taken away, as the garbage
// collector does, but not added: the collector would delete the run after an owner that does not exist, for somebody who may not.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	after, before := obj.(*kudo.PlanExecution), old.(*kudo.PlanExecution)
	after.Status = before.Status
	after.OwnerReferences = slices.DeleteFunc(slices.Clone(after.OwnerReferences), func(o metav1.OwnerReference) bool {
		return !slices.ContainsFunc(before.OwnerReferences, func(b metav1.OwnerReference) bool { return b.UID == o.UID })
	})
	keepStamped(&after.Spec, &before.Spec)
	after.Generation = before.Generation
	if !apiequality.Semantic.DeepEqual(after.Spec, before.Spec) {
		after.Generation++
	}
}

// keepStamped keeps the fields of the spec that only the server writes.
func keepStamped(after, before *kudo.PlanExecutionSpec) {
	after.RequestedBy = before.RequestedBy
	after.Trigger = before.Trigger
	after.OperatorVersion = before.OperatorVersion
	after.RevisionName = before.RevisionName
	after.InstanceParameters = before.InstanceParameters
}

// Validate checks a new PlanExecution.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidatePlanExecution(obj.(*kudo.PlanExecution))
}

// ValidateUpdate checks a changed PlanExecution.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidatePlanExecutionUpdate(obj.(*kudo.PlanExecution), old.(*kudo.PlanExecution))
}

// stamped are the fields of the spec that only the server writes.
var stamped = []string{"requestedBy", "trigger", "operatorVersion", "revisionName", "instanceParameters"}

// GetResetFields are the fields that users cannot own by server-side apply.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	for _, name := range stamped {
		set.Insert(fieldpath.MakePathOrDie("spec", name))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{"kudo.dev/v1beta1": set}
}

// statusStrategy writes the status only, and not once the run has ended.
type statusStrategy struct{ strategy }

// PrepareForUpdate keeps everything but the status, and writes the log of it.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	after, before := obj.(*kudo.PlanExecution), old.(*kudo.PlanExecution)
	after.Spec = before.Spec
	after.Labels = before.Labels
	after.Annotations = before.Annotations
	after.OwnerReferences = before.OwnerReferences
	after.Finalizers = before.Finalizers
	after.Generation = before.Generation
	appendLog(before, after, time.Now())
}

// ValidateUpdate checks a changed status.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidatePlanExecutionStatusUpdate(obj.(*kudo.PlanExecution), old.(*kudo.PlanExecution))
}

// GetResetFields are the fields that a write of the status cannot own.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{"kudo.dev/v1beta1": fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("status", "log"))}
}
