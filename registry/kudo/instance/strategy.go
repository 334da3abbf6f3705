// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/lock"
	"kudo.dev/kudo/registry/kudo/store"
)

// strategy leaves lock and status alone: REST keeps users from writing them, and the server itself writes through the same
// strategy.
type strategy struct{ store.Strategy }

// PrepareForCreate starts the generation at 1.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*kudo.Instance).Generation = 1
}

// PrepareForUpdate counts changes of what users want, which the lock is not: the server writes it.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	after, before := obj.(*kudo.Instance), old.(*kudo.Instance)
	after.Generation = before.Generation
	wanted, was := after.Spec, before.Spec
	wanted.PlanExecution, was.PlanExecution = kudo.InstancePlanExecution{}, kudo.InstancePlanExecution{}
	if !apiequality.Semantic.DeepEqual(wanted, was) {
		after.Generation++
	}
}

// Validate checks a new Instance.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateInstance(obj.(*kudo.Instance))
}

// ValidateUpdate checks a changed Instance.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateInstanceUpdate(obj.(*kudo.Instance), old.(*kudo.Instance))
}

// GetResetFields are the fields that users cannot own by server-side apply.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{"kudo.dev/v1beta1": fieldpath.NewSet(
		fieldpath.MakePathOrDie("status"), fieldpath.MakePathOrDie("spec", "planExecution"))}
}

// statusStrategy writes the status only.
type statusStrategy struct{ strategy }

// PrepareForUpdate keeps everything but the status, and lets an Instance go whose inventory has no object any more that is in the way of
// its deletion, also if it had none before: the executor would write the same status again and again.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	after, before := obj.(*kudo.Instance), old.(*kudo.Instance)
	after.Spec = before.Spec
	after.Labels = before.Labels
	after.Annotations = before.Annotations
	after.OwnerReferences = before.OwnerReferences
	after.Finalizers = before.Finalizers
	after.Generation = before.Generation
	lock.HoldForInventory(after)
}

// ValidateUpdate checks a changed status.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateInstanceStatusUpdate(obj.(*kudo.Instance), old.(*kudo.Instance))
}

// GetResetFields are the fields that a write of the status cannot own.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{"kudo.dev/v1beta1": fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))}
}
