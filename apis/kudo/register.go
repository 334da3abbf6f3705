// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the types in this package.
const GroupName = "kudo.dev"

// SchemeGroupVersion is the hub version of the group.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}

var (
	// SchemeBuilder collects the functions that add this package to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds the hub types to a scheme.
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
	return nil
}
