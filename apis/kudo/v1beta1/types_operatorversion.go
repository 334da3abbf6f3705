// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +genclient:noStatus
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersion is one version of an operator: plans made of phases, steps and tasks, with templates and parameters.
type OperatorVersion struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// spec is the content of the version.
	// +optional
	Spec OperatorVersionSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// status is empty; it is accepted because clients send it.
	// +optional
	Status OperatorVersionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// OperatorVersionSpec is the content of one version of an operator.
type OperatorVersionSpec struct {
	// operator refers to the Operator this is a version of. Only name is read.
	// +optional
	Operator ObjectReference `json:"operator" protobuf:"bytes,1,opt,name=operator"`
	// version is the version of the operator itself, a semantic version.
	// +optional
	Version string `json:"version,omitempty" protobuf:"bytes,2,opt,name=version"`
	// appVersion is the version of the application that the operator runs.
	// +optional
	AppVersion string `json:"appVersion,omitempty" protobuf:"bytes,3,opt,name=appVersion"`
	// templates are the texts from which tasks make Kubernetes objects, by name (the path below templates/ in the package).
	// +optional
	Templates map[string]string `json:"templates,omitempty" protobuf:"bytes,4,rep,name=templates"`
	// tasks are what the steps of plans refer to by name.
	// +optional
	// +listType=atomic
	Tasks []Task `json:"tasks,omitempty" protobuf:"bytes,5,rep,name=tasks"`
	// parameters are what an Instance may set.
	// +optional
	// +listType=atomic
	Parameters []Parameter `json:"parameters,omitempty" protobuf:"bytes,6,rep,name=parameters"`
	// plans are the things that can be done with an Instance, by name. deploy, upgrade, update and cleanup have a fixed meaning.
	// +optional
	Plans map[string]Plan `json:"plans,omitempty" protobuf:"bytes,7,rep,name=plans"`
	// connectionString is kept for clients; nothing reads it.
	// +optional
	ConnectionString string `json:"connectionString,omitempty" protobuf:"bytes,8,opt,name=connectionString"`
	// upgradableFrom is kept for clients; nothing reads it.
	// +optional
	// +listType=atomic
	UpgradableFrom []ObjectReference `json:"upgradableFrom,omitempty" protobuf:"bytes,9,rep,name=upgradableFrom"`
}

// ObjectReference points at another object of this API group. It has the shape of the core type of the same name.
// +structType=atomic
type ObjectReference struct {
	// kind of the referent.
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,1,opt,name=kind"`
	// namespace of the referent; empty means the namespace of the object that holds the reference.
	// +optional
	Namespace string `json:"namespace,omitempty" protobuf:"bytes,2,opt,name=namespace"`
	// name of the referent.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,3,opt,name=name"`
	// uid of the referent. Not read.
	// +optional
	UID string `json:"uid,omitempty" protobuf:"bytes,4,opt,name=uid"`
	// apiVersion of the referent. Not read.
	// +optional
	APIVersion string `json:"apiVersion,omitempty" protobuf:"bytes,5,opt,name=apiVersion"`
	// resourceVersion of the referent. Not read.
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"bytes,6,opt,name=resourceVersion"`
	// fieldPath within the referent. Not read.
	// +optional
	FieldPath string `json:"fieldPath,omitempty" protobuf:"bytes,7,opt,name=fieldPath"`
}

// OperatorVersionStatus is empty.
type OperatorVersionStatus struct{}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersionList is a list of OperatorVersions.
type OperatorVersionList struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// items are the OperatorVersions.
	Items []OperatorVersion `json:"items" protobuf:"bytes,2,rep,name=items"`
}
