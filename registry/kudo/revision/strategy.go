// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

type strategy struct{ store.Strategy }

// PrepareForCreate starts the generation at 1, where it stays.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	obj.(*kudo.OperatorVersionRevision).Generation = 1
}

// PrepareForUpdate keeps the generation.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	obj.(*kudo.OperatorVersionRevision).Generation = old.(*kudo.OperatorVersionRevision).Generation
}

// Validate checks the metadata; the content was validated as that of an OperatorVersion.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	r := obj.(*kudo.OperatorVersionRevision)
	return validation.ValidateObjectMeta(&r.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// ValidateUpdate refuses changes of the content.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	after, before := obj.(*kudo.OperatorVersionRevision), old.(*kudo.OperatorVersionRevision)
	errs := validation.ValidateObjectMetaUpdate(&after.ObjectMeta, &before.ObjectMeta, field.NewPath("metadata"))
	const detail = "a revision is history and cannot be changed; change the OperatorVersion and run a plan"
	if !apiequality.Semantic.DeepEqual(after.Data, before.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), detail))
	}
	if after.OperatorVersion != before.OperatorVersion {
		errs = append(errs, field.Forbidden(field.NewPath("operatorVersion"), detail))
	}
	return errs
}
