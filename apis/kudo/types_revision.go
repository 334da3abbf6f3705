// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersionRevision keeps the content of an OperatorVersion as it was when a run of an Instance started, as a
// ControllerRevision does for a StatefulSet. The server creates it; it is owned by the Instance and cannot be changed.
type OperatorVersionRevision struct {
	metav1.TypeMeta
	// metadata is the standard object metadata.
	metav1.ObjectMeta
	// operatorVersion refers to the OperatorVersion the content was taken from.
	OperatorVersion ObjectReference
	// data is the content.
	Data OperatorVersionSpec
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersionRevisionList is a list of OperatorVersionRevisions.
type OperatorVersionRevisionList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta
	// items are the OperatorVersionRevisions.
	Items []OperatorVersionRevision
}
