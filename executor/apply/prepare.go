// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

// maxLastApplied keeps the annotation well below the 256 KiB that all annotations of an object may have together.
const maxLastApplied = 128 << 10

// Prepare marks a rendered object as belonging to the Instance and the step: labels, annotations, and for namespaced
// kinds the Instance's namespace, whatever the template says, and the Instance as controlling owner. It removes what only
// a server may set. It fails if the object has no name or another controlling owner.
func Prepare(obj *unstructured.Unstructured, namespaced bool, id Identity) error {
	if obj.GetName() == "" {
		return fault.Finalf(fault.ReasonEnhancement, "%s has no metadata.name (generateName is not possible, because a step may be repeated); give it a name in its template", obj.GetKind())
	}
	for _, field := range []string{"creationTimestamp", "managedFields", "resourceVersion", "uid", "generation", "selfLink", "deletionTimestamp"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	obj.SetNamespace("")
	if namespaced {
		obj.SetNamespace(id.Namespace)
		if err := own(obj, id); err != nil {
			return err
		}
	} else {
		mergeStrings(obj.Object, map[string]string{AnnotationInstanceUID: string(id.InstanceUID)}, "metadata", "annotations")
	}
	setLabels(obj, id.labels())
	setTemplateAnnotations(obj, map[string]string{AnnotationOperatorVersion: id.OperatorVersion})
	mergeStrings(obj.Object, id.annotations(), "metadata", "annotations")
	return nil
}

// own makes the Instance the controlling owner.
func own(obj *unstructured.Unstructured, id Identity) error {
	owners := obj.GetOwnerReferences()
	kept := owners[:0]
	for _, o := range owners {
		if o.UID == id.InstanceUID {
			continue
		}
		if ptr.Deref(o.Controller, false) {
			return fault.Finalf(fault.ReasonEnhancement, "%s %s names %s %s as its controlling owner, but an object of a plan is controlled by its Instance; remove the owner reference or its \"controller: true\" from the template",
				obj.GetKind(), obj.GetName(), o.Kind, o.Name)
		}
		kept = append(kept, o)
	}
	obj.SetOwnerReferences(append(kept, metav1.OwnerReference{
		APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "Instance", Name: id.Instance, UID: id.InstanceUID,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}))
	return nil
}

// setLastApplied records what is applied, for KUDO's tools and for people. It comes last, because it holds all the rest.
func setLastApplied(obj *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", AnnotationLastApplied)
	text, err := json.Marshal(obj.Object)
	if err != nil {
		return fault.Finalf(fault.ReasonEnhancement, "%s %s cannot be written as JSON: %w", obj.GetKind(), obj.GetName(), err)
	}
	if len(text) <= maxLastApplied {
		mergeStrings(obj.Object, map[string]string{AnnotationLastApplied: string(text)}, "metadata", "annotations")
	}
	return nil
}
