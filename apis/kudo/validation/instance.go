// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"fmt"

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
	return append(errs, validateInstanceSpec(&i.Spec, field.NewPath("spec"))...)
}

func validateInstanceSpec(spec *kudo.InstanceSpec, path *field.Path) field.ErrorList {
	errs := validateOperatorVersionReference(&spec.OperatorVersion, path.Child("operatorVersion"))
	errs = append(errs, validateHistoryLimit(spec.SuccessfulRunsHistoryLimit, path.Child("successfulRunsHistoryLimit"))...)
	return append(errs, validateHistoryLimit(spec.FailedRunsHistoryLimit, path.Child("failedRunsHistoryLimit"))...)
}

// maxHistoryLimit bounds the history of one Instance: every list of its runs, and every look at what is surplus, reads all of it.
const maxHistoryLimit = 10_000

func validateHistoryLimit(limit *int32, path *field.Path) field.ErrorList {
	switch {
	case limit == nil:
		return nil
	case *limit < 0:
		return field.ErrorList{field.Invalid(path, *limit, fmt.Sprintf("must not be negative; 0 keeps none of these runs, and without the field %d are kept", kudo.DefaultRunsHistoryLimit))}
	case *limit > maxHistoryLimit:
		return field.ErrorList{field.Invalid(path, *limit, fmt.Sprintf("must be at most %d, for every kept run takes room in etcd and in the memory of the server; "+
			"to keep records for longer, copy them: kubectl get planexecutions --field-selector spec.instanceName=NAME -o yaml", maxHistoryLimit))}
	}
	return nil
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
	return append(errs, validateInstanceSpec(&i.Spec, field.NewPath("spec"))...)
}

// ValidateInstanceStatusUpdate checks a changed status of an Instance.
func ValidateInstanceStatusUpdate(i, old *kudo.Instance) field.ErrorList {
	errs := validation.ValidateObjectMetaUpdate(&i.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	return append(errs, metav1validation.ValidateConditions(i.Status.Conditions, field.NewPath("status", "conditions"))...)
}
