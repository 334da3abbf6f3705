// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +genclient:noStatus
// +genclient:onlyVerbs=get,list,watch,delete,deleteCollection
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersionRevision keeps the content of an OperatorVersion as it was when a run of an Instance started, as a
// ControllerRevision does for a StatefulSet. The server creates it; it is owned by the Instance and cannot be changed.
type OperatorVersionRevision struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// operatorVersion refers to the OperatorVersion the content was taken from.
	// +optional
	OperatorVersion ObjectReference `json:"operatorVersion,omitempty" protobuf:"bytes,2,opt,name=operatorVersion"`
	// data is the content.
	// +optional
	Data OperatorVersionSpec `json:"data,omitempty" protobuf:"bytes,3,opt,name=data"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// OperatorVersionRevisionList is a list of OperatorVersionRevisions.
type OperatorVersionRevisionList struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// items are the OperatorVersionRevisions.
	Items []OperatorVersionRevision `json:"items" protobuf:"bytes,2,rep,name=items"`
}
