// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Operator describes a package: who maintains it and what it needs. Its versions are OperatorVersions.
type Operator struct {
	metav1.TypeMeta
	// metadata is the standard object metadata.
	metav1.ObjectMeta
	// spec describes the package.
	Spec OperatorSpec
	// status is empty; it is accepted because clients send it.
	Status OperatorStatus
}

// OperatorSpec describes an operator package.
type OperatorSpec struct {
	// description says in a sentence what the operator runs.
	Description string
	// kudoVersion is the KUDO version the package was written for. It is not enforced.
	KudoVersion string
	// kubernetesVersion is the oldest Kubernetes version the package supports, checked when it is installed.
	KubernetesVersion string
	// maintainers are the people to ask.
	Maintainers []Maintainer
	// url is the home page of the operator.
	URL string
	// namespaceManifest names the template used when the operator's namespace is created at installation.
	NamespaceManifest string
}

// Maintainer is a person who answers for a package.
type Maintainer struct {
	// name of the person.
	Name string
	// email address of the person.
	Email string
}

// OperatorStatus is empty.
type OperatorStatus struct{}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorList is a list of Operators.
type OperatorList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta
	// items are the Operators.
	Items []Operator
}
