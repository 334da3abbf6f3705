// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// AnnotationPrune with the value "false" keeps an object that no template contains any more, or whose Instance is deleted.
const AnnotationPrune = "kudo.dev/prune"

// keptKinds are those with whose objects data goes that nobody can bring back: of the users, or of other Instances.
var keptKinds = []schema.GroupKind{
	{Kind: "PersistentVolumeClaim"}, {Kind: "PersistentVolume"}, {Kind: "Namespace"},
	{Group: definitions.Group, Kind: "CustomResourceDefinition"}, v1beta1.SchemeGroupVersion.WithKind("Instance").GroupKind(),
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"}, {Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotContent"},
}

// Keeps says why an object is never deleted because a template dropped it; it is empty for one that may be.
func Keeps(obj *unstructured.Unstructured) string {
	gk := obj.GroupVersionKind().GroupKind()
	if slices.Contains(keptKinds, gk) {
		return fmt.Sprintf("a %s is never deleted because a template no longer contains it, for data would go with it", gk.Kind)
	}
	if obj.GetAnnotations()[AnnotationPrune] == "false" {
		return fmt.Sprintf("it has the annotation %s: \"false\"", AnnotationPrune)
	}
	return ""
}

// BelongsTo tells whether the Instance with this uid applied the object last: it is among the owners or, of a cluster-scoped object,
// named in an annotation.
func BelongsTo(obj *unstructured.Unstructured, instance types.UID) bool {
	if obj.GetNamespace() == "" {
		return obj.GetAnnotations()[AnnotationInstanceUID] == string(instance)
	}
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == instance })
}

// OfAnother tells whether the object is another Instance's: that controls it or, of a cluster-scoped object, is named in an annotation.
func OfAnother(obj *unstructured.Unstructured, instance types.UID) bool {
	if obj.GetNamespace() == "" {
		named := obj.GetAnnotations()[AnnotationInstanceUID]
		return named != "" && named != string(instance)
	}
	owner := metav1.GetControllerOf(obj)
	return owner != nil && owner.APIVersion == v1beta1.SchemeGroupVersion.String() && owner.Kind == "Instance" && owner.UID != instance
}

// Custom tells whether kinds of an API group are defined by CustomResourceDefinitions or other API servers.
func Custom(group string) bool {
	return strings.Contains(group, ".") && (!strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, ".x-k8s.io"))
}
