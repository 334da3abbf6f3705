// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
)

// ValidateOperator checks an Operator.
func ValidateOperator(o *kudo.Operator) field.ErrorList {
	return validation.ValidateObjectMeta(&o.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// ValidateOperatorUpdate checks a changed Operator.
func ValidateOperatorUpdate(o, old *kudo.Operator) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&o.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	return append(errs, ValidateOperator(o)...)
}
