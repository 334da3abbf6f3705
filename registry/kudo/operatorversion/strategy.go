// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package operatorversion

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/store"
)

type strategy struct{ store.Strategy }

// PrepareForCreate starts the generation at 1.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*kudo.OperatorVersion).Generation = 1
}

// PrepareForUpdate counts changes of the content: the kind has no status subresource, so that is all but the metadata.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	after, before := obj.(*kudo.OperatorVersion), old.(*kudo.OperatorVersion)
	after.Generation = before.Generation
	if !apiequality.Semantic.DeepEqual(after.Spec, before.Spec) {
		after.Generation++
	}
}

// Validate checks a new object.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateOperatorVersion(obj.(*kudo.OperatorVersion))
}

// ValidateUpdate checks a changed object.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateOperatorVersionUpdate(obj.(*kudo.OperatorVersion), old.(*kudo.OperatorVersion))
}
