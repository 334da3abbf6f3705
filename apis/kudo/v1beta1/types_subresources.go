// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

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
	// defined says that the Instance's OperatorVersion has the plan. Only a defined plan can run; one that is not has run before an upgrade.
	// +optional
	Defined bool `json:"defined" protobuf:"varint,5,opt,name=defined"`
	// lastRunName is the PlanExecution of the last run; empty if there was none or it is not kept any more.
	// +optional
	LastRunName string `json:"lastRunName,omitempty" protobuf:"bytes,6,opt,name=lastRunName"`
	// lockedBy is the run, of whatever plan, that must end before this plan can start. Absent if the Instance is free.
	// +optional
	LockedBy *PlanLock `json:"lockedBy,omitempty" protobuf:"bytes,7,opt,name=lockedBy"`
	// mayTrigger says whether the caller has the permission to start the plan.
	// +optional
	MayTrigger bool `json:"mayTrigger" protobuf:"varint,8,opt,name=mayTrigger"`
	// mayTriggerMessage says which permission the caller lacks.
	// +optional
	MayTriggerMessage string `json:"mayTriggerMessage,omitempty" protobuf:"bytes,9,opt,name=mayTriggerMessage"`
}

// PlanLock is a run that owns an Instance.
type PlanLock struct {
	// name of the PlanExecution.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// uid of the PlanExecution.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,2,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
	// planName is the plan that runs.
	// +optional
	PlanName string `json:"planName,omitempty" protobuf:"bytes,3,opt,name=planName"`
	// status of the run.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,4,opt,name=status,casttype=ExecutionStatus"`
	// requestedBy is the name of the user who asked for the run.
	// +optional
	RequestedBy string `json:"requestedBy,omitempty" protobuf:"bytes,5,opt,name=requestedBy"`
	// trigger is why the run was started.
	// +optional
	Trigger TriggerReason `json:"trigger,omitempty" protobuf:"bytes,6,opt,name=trigger,casttype=TriggerReason"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionCancel ends a run at once and frees its Instance. It is posted to the cancel subresource of a PlanExecution and is not
// stored. What the run has changed in the cluster stays as it is.
type PlanExecutionCancel struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard object metadata; nothing of it is read.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// message says why the run is cancelled. It goes into the status of the run.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`
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
	// format is "text", one line for a person, or "json", one PlanExecutionLogEntry a line. Defaults to text.
	// +optional
	Format string `json:"format,omitempty" protobuf:"bytes,2,opt,name=format"`
	// sinceSequence leaves out the entries up to this sequence number, which the caller has. Defaults to 0: all entries.
	// +optional
	SinceSequence int64 `json:"sinceSequence,omitempty" protobuf:"varint,3,opt,name=sinceSequence"`
}

// How the log is written.
const (
	// TextLogFormat is one line a person can read for each entry.
	TextLogFormat = "text"
	// JSONLogFormat is one JSON object a line for each entry.
	JSONLogFormat = "json"
)
