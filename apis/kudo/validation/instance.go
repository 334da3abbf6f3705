// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
)

// ValidateInstance checks an Instance by itself; whether its OperatorVersion exists and takes its parameters is for the registry.
// The name must be a DNS label in the sense of labels and of the names of the objects that templates derive from it.
func ValidateInstance(i *kudo.Instance) field.ErrorList {
	errs := validation.ValidateObjectMeta(&i.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if len(i.Name) > maxLabelValue {
		// Every object that a plan applies is labelled with the name of its Instance.
		errs = append(errs, field.TooLong(field.NewPath("metadata", "name"), i.Name, maxLabelValue))
	}
	return append(errs, validateOperatorVersionReference(&i.Spec.OperatorVersion, field.NewPath("spec", "operatorVersion"))...)
}

// maxLabelValue is the longest value of a label in Kubernetes, in bytes.
const maxLabelValue = 63

func validateOperatorVersionReference(ref *kudo.ObjectReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "name the OperatorVersion that the Instance runs"))
	} else {
		for _, message := range validation.NameIsDNSSubdomain(ref.Name, false) {
			errs = append(errs, field.Invalid(path.Child("name"), ref.Name, message))
		}
	}
	if ref.Namespace != "" {
		for _, message := range validation.ValidateNamespaceName(ref.Namespace, false) {
			errs = append(errs, field.Invalid(path.Child("namespace"), ref.Namespace, message))
		}
	}
	return errs
}

// ValidateInstanceUpdate checks a changed Instance.
func ValidateInstanceUpdate(i, old *kudo.Instance) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&i.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	return append(errs, validateOperatorVersionReference(&i.Spec.OperatorVersion, field.NewPath("spec", "operatorVersion"))...)
}

// ValidateInstanceStatusUpdate checks a changed status of an Instance.
func ValidateInstanceStatusUpdate(i, old *kudo.Instance) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&i.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	return append(errs, metav1validation.ValidateConditions(i.Status.Conditions, field.NewPath("status", "conditions"))...)
}
