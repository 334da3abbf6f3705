// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanTrigger asks for one run of a plan. It is posted to the plans subresource of an Instance and is not stored.
type PlanTrigger struct {
	metav1.TypeMeta `json:""`
	// metadata of the PlanExecution to be created: name or generateName, labels and annotations are used.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// planName is the plan to run. It may be empty where the path names the plan.
	// +optional
	PlanName string `json:"planName,omitempty" protobuf:"bytes,2,opt,name=planName"`
	// parameters for this run only.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty" protobuf:"bytes,3,rep,name=parameters"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePlans lists the plans of an Instance. It is computed, not stored.
type InstancePlans struct {
	metav1.TypeMeta `json:""`
	// metadata names the Instance.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// plans that the Instance's OperatorVersion defines, by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	Plans []InstancePlan `json:"plans,omitempty" protobuf:"bytes,2,rep,name=plans"`
}

// InstancePlan is one plan of an Instance with its last run.
type InstancePlan struct {
	// name of the plan.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// strategy of the plan.
	// +optional
	Strategy Ordering `json:"strategy,omitempty" protobuf:"bytes,2,opt,name=strategy,casttype=Ordering"`
	// active says that a run of the plan holds the Instance now.
	// +optional
	Active bool `json:"active,omitempty" protobuf:"varint,3,opt,name=active"`
	// lastRun is how the last run of the plan stands. Absent if there was none.
	// +optional
	LastRun *PlanStatus `json:"lastRun,omitempty" protobuf:"bytes,4,opt,name=lastRun"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePlansOptions are the query options of the plans subresource.
type InstancePlansOptions struct {
	metav1.TypeMeta `json:""`
	// path below the subresource: the name of a plan, or empty for all.
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,1,opt,name=path"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionLogOptions are the query options of the log subresource.
type PlanExecutionLogOptions struct {
	metav1.TypeMeta `json:""`
	// follow keeps the stream open until the run ends. Defaults to false.
	// +optional
	Follow bool `json:"follow,omitempty" protobuf:"varint,1,opt,name=follow"`
}
