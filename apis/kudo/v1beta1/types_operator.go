// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +genclient:noStatus
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Operator describes a package: who maintains it and what it needs. Its versions are OperatorVersions.
type Operator struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// spec describes the package.
	// +optional
	Spec OperatorSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// status is empty; it is accepted because clients send it.
	// +optional
	Status OperatorStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// OperatorSpec describes an operator package.
type OperatorSpec struct {
	// description says in a sentence what the operator runs.
	// +optional
	Description string `json:"description,omitempty" protobuf:"bytes,1,opt,name=description"`
	// kudoVersion is the KUDO version the package was written for. It is not enforced.
	// +optional
	KudoVersion string `json:"kudoVersion,omitempty" protobuf:"bytes,2,opt,name=kudoVersion"`
	// kubernetesVersion is the oldest Kubernetes version the package supports, checked when it is installed.
	// +optional
	KubernetesVersion string `json:"kubernetesVersion,omitempty" protobuf:"bytes,3,opt,name=kubernetesVersion"`
	// maintainers are the people to ask.
	// +optional
	// +listType=atomic
	Maintainers []Maintainer `json:"maintainers,omitempty" protobuf:"bytes,4,rep,name=maintainers"`
	// url is the home page of the operator.
	// +optional
	URL string `json:"url,omitempty" protobuf:"bytes,5,opt,name=url"`
	// namespaceManifest names the template used when the operator's namespace is created at installation.
	// +optional
	NamespaceManifest string `json:"namespaceManifest,omitempty" protobuf:"bytes,6,opt,name=namespaceManifest"`
}

// Maintainer is a person who answers for a package.
type Maintainer struct {
	// name of the person.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// email address of the person.
	// +optional
	Email string `json:"email,omitempty" protobuf:"bytes,2,opt,name=email"`
}

// OperatorStatus is empty.
type OperatorStatus struct{}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorList is a list of Operators.
type OperatorList struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// items are the Operators.
	Items []Operator `json:"items" protobuf:"bytes,2,rep,name=items"`
}
