// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersion is one version of an operator: plans made of phases, steps and tasks, with templates and parameters.
type OperatorVersion struct {
	metav1.TypeMeta
	// metadata is the standard object metadata.
	metav1.ObjectMeta
	// spec is the content of the version.
	Spec OperatorVersionSpec
	// status is empty; it is accepted because clients send it.
	Status OperatorVersionStatus
}

// OperatorVersionSpec is the content of one version of an operator.
type OperatorVersionSpec struct {
	// operator refers to the Operator this is a version of. Only name is read.
	Operator ObjectReference
	// version is the version of the operator itself, a semantic version.
	Version string
	// appVersion is the version of the application that the operator runs.
	AppVersion string
	// templates are the texts from which tasks make Kubernetes objects, by name (the path below templates/ in the package).
	Templates map[string]string
	// tasks are what the steps of plans refer to by name.
	Tasks []Task
	// parameters are what an Instance may set.
	Parameters []Parameter
	// plans are the things that can be done with an Instance, by name. deploy, upgrade, update and cleanup have a fixed meaning.
	Plans map[string]Plan
	// connectionString is kept for clients; nothing reads it.
	ConnectionString string
	// upgradableFrom is kept for clients; nothing reads it.
	UpgradableFrom []ObjectReference
}

// ObjectReference points at another object of this API group. It has the shape of the core type of the same name.
type ObjectReference struct {
	// kind of the referent.
	Kind string
	// namespace of the referent; empty means the namespace of the object that holds the reference.
	Namespace string
	// name of the referent.
	Name string
	// uid of the referent. Not read.
	UID string
	// apiVersion of the referent. Not read.
	APIVersion string
	// resourceVersion of the referent. Not read.
	ResourceVersion string
	// fieldPath within the referent. Not read.
	FieldPath string
}

// OperatorVersionStatus is empty.
type OperatorVersionStatus struct{}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersionList is a list of OperatorVersions.
type OperatorVersionList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta
	// items are the OperatorVersions.
	Items []OperatorVersion
}
