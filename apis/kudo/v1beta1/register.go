// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the types in this package.
const GroupName = "kudo.dev"

// SchemeGroupVersion is the group and version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}

var (
	// SchemeBuilder collects the functions that add this package to a scheme.
	SchemeBuilder      = runtime.NewSchemeBuilder(addKnownTypes, addDefaultingFuncs, addFieldLabelConversions)
	localSchemeBuilder = &SchemeBuilder
	// AddToScheme adds the types, defaults and conversions of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind qualifies a kind with the group.
func Kind(kind string) schema.GroupKind { return SchemeGroupVersion.WithKind(kind).GroupKind() }

// Resource qualifies a resource with the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&Operator{}, &OperatorList{},
		&OperatorVersion{}, &OperatorVersionList{},
		&OperatorVersionRevision{}, &OperatorVersionRevisionList{},
		&Instance{}, &InstanceList{},
		&PlanExecution{}, &PlanExecutionList{},
		&PlanTrigger{}, &PlanExecutionCancel{}, &InstancePlans{}, &InstancePlansOptions{}, &PlanExecutionLogOptions{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
