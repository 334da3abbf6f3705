// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +genclient
// +genclient:method=Cancel,verb=create,subresource=cancel,input=PlanExecutionCancel,result=PlanExecution
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecution is one run of a plan of an Instance, kept as its history. Creating one starts the run.
type PlanExecution struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard object metadata. Its uid is the identity of the run.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// spec says what is run, for whom and why. Only suspend, activeDeadlineSeconds and ttlSecondsAfterFinished can be changed.
	// +optional
	Spec PlanExecutionSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// status says how far the run is.
	// +optional
	Status PlanExecutionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// PlanExecutionSpec says what is run, for whom and why.
type PlanExecutionSpec struct {
	// instanceName is the Instance, in the same namespace.
	// +required
	InstanceName string `json:"instanceName" protobuf:"bytes,1,opt,name=instanceName"`
	// planName is the plan of the Instance's OperatorVersion.
	// +required
	PlanName string `json:"planName" protobuf:"bytes,2,opt,name=planName"`
	// parameters for this run only; they win over those of the Instance.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty" protobuf:"bytes,3,rep,name=parameters"`
	// suspend holds the run before its next step. Steps that have begun are finished. Defaults to false.
	// +optional
	Suspend bool `json:"suspend,omitempty" protobuf:"varint,4,opt,name=suspend"`
	// activeDeadlineSeconds ends the run as failed when it has taken that many seconds since it started. Absent means no limit.
	// +optional
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty" protobuf:"varint,5,opt,name=activeDeadlineSeconds"`
	// ttlSecondsAfterFinished deletes the PlanExecution that many seconds after its end. Absent means that it is kept.
	// +optional
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty" protobuf:"varint,6,opt,name=ttlSecondsAfterFinished"`
	// requestedBy is who asked for the run. The server writes it.
	// +optional
	RequestedBy *RequestedBy `json:"requestedBy,omitempty" protobuf:"bytes,7,opt,name=requestedBy"`
	// trigger is why the run was started. The server writes it.
	// +optional
	Trigger TriggerReason `json:"trigger,omitempty" protobuf:"bytes,8,opt,name=trigger,casttype=TriggerReason"`
	// operatorVersion refers to the OperatorVersion of the Instance at the start of the run. The server writes it.
	// +optional
	OperatorVersion ObjectReference `json:"operatorVersion,omitempty" protobuf:"bytes,9,opt,name=operatorVersion"`
	// revisionName is the OperatorVersionRevision that holds the content of the OperatorVersion at the start of the run.
	// The run uses that content even if the OperatorVersion is changed or deleted meanwhile. The server writes it.
	// +optional
	RevisionName string `json:"revisionName,omitempty" protobuf:"bytes,10,opt,name=revisionName"`
	// instanceParameters are the parameters of the Instance at the start of the run. The server writes them.
	// +optional
	InstanceParameters map[string]string `json:"instanceParameters,omitempty" protobuf:"bytes,11,rep,name=instanceParameters"`
}

// RequestedBy is the user who asked for a run, as the server authenticated them.
type RequestedBy struct {
	// username of the user.
	// +optional
	Username string `json:"username,omitempty" protobuf:"bytes,1,opt,name=username"`
	// uid of the user.
	// +optional
	UID string `json:"uid,omitempty" protobuf:"bytes,2,opt,name=uid"`
	// groups of the user.
	// +optional
	// +listType=atomic
	Groups []string `json:"groups,omitempty" protobuf:"bytes,3,rep,name=groups"`
	// extra information of the authenticator.
	// +optional
	Extra map[string]ExtraValue `json:"extra,omitempty" protobuf:"bytes,4,rep,name=extra"`
}

// ExtraValue is a list of values of one key.
// +protobuf.nullable=true
// +protobuf.options.(gogoproto.goproto_stringer)=false
type ExtraValue []string

// TriggerReason is why a run was started.
// +enum
type TriggerReason string

const (
	// TriggerManual means that somebody asked for this plan.
	TriggerManual TriggerReason = "Manual"
	// TriggerCreate means that the Instance was created.
	TriggerCreate TriggerReason = "Create"
	// TriggerParameterChange means that parameters of the Instance changed.
	TriggerParameterChange TriggerReason = "ParameterChange"
	// TriggerUpgrade means that the Instance changed to another OperatorVersion.
	TriggerUpgrade TriggerReason = "Upgrade"
	// TriggerCleanup means that the Instance was deleted.
	TriggerCleanup TriggerReason = "Cleanup"
	// TriggerSchedule means that a schedule was due.
	TriggerSchedule TriggerReason = "Schedule"
)

// ExecutionStatus is how far a plan, a phase, a step or a task is.
// +enum
type ExecutionStatus string

const (
	// ExecutionNeverRun means that the plan was never started.
	ExecutionNeverRun ExecutionStatus = "NEVER_RUN"
	// ExecutionPending means that it is due but has not begun.
	ExecutionPending ExecutionStatus = "PENDING"
	// ExecutionInProgress means that it has begun.
	ExecutionInProgress ExecutionStatus = "IN_PROGRESS"
	// ErrorStatus means that it met an error and will be tried again.
	ErrorStatus ExecutionStatus = "ERROR"
	// ExecutionComplete means that it has ended well.
	ExecutionComplete ExecutionStatus = "COMPLETE"
	// ExecutionFatalError means that it has ended with an error.
	ExecutionFatalError ExecutionStatus = "FATAL_ERROR"
)

// Conditions of a PlanExecution.
const (
	// CompleteConditionType is True once the run has ended well.
	CompleteConditionType = "Complete"
	// FailedConditionType is True once the run has ended with an error.
	FailedConditionType = "Failed"
	// SuspendedConditionType is True while the run is held by spec.suspend.
	SuspendedConditionType = "Suspended"
)

// Reasons of the condition Failed that the server gives.
const (
	// ReasonCancelled means that somebody cancelled the run.
	ReasonCancelled = "Cancelled"
	// ReasonSuperseded means that a newer run took the Instance over: the same plan with other parameters, or the cleanup of an
	// Instance that is being deleted.
	ReasonSuperseded = "Superseded"
)

// PlanExecutionStatus says how far a run is.
type PlanExecutionStatus struct {
	// status of the whole run.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,1,opt,name=status,casttype=ExecutionStatus"`
	// message says why the run is where it is.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`
	// startTime is when the executor took up the run.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty" protobuf:"bytes,3,opt,name=startTime"`
	// completionTime is when the run ended, well or not.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty" protobuf:"bytes,4,opt,name=completionTime"`
	// conditions of the run: Complete, Failed, Suspended.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,5,rep,name=conditions"`
	// strategy of the plan.
	// +optional
	Strategy Ordering `json:"strategy,omitempty" protobuf:"bytes,6,opt,name=strategy,casttype=Ordering"`
	// phases of the plan, in its order.
	// +optional
	// +listType=map
	// +listMapKey=name
	Phases []PhaseExecutionStatus `json:"phases,omitempty" protobuf:"bytes,7,rep,name=phases"`
	// log is what happened in the run, in order. The server writes it with every change of the status. It holds the last
	// MaxLogEntries entries; what is older is dropped, first what a step waited for.
	// +optional
	// +listType=map
	// +listMapKey=sequence
	Log []PlanExecutionLogEntry `json:"log,omitempty" protobuf:"bytes,8,rep,name=log"`
}

// MaxLogEntries bounds status.log.
const MaxLogEntries = 1000

// PlanExecutionLogEntry is one thing that happened in a run.
type PlanExecutionLogEntry struct {
	// sequence counts the entries of a run from 1, without gaps. An entry never changes.
	// +required
	Sequence int64 `json:"sequence" protobuf:"varint,1,opt,name=sequence"`
	// time is when the server recorded it.
	// +required
	Time metav1.MicroTime `json:"time" protobuf:"bytes,2,opt,name=time"`
	// phase that it happened in; empty if it concerns the whole run.
	// +optional
	Phase string `json:"phase,omitempty" protobuf:"bytes,3,opt,name=phase"`
	// step that it happened in; empty if it concerns the whole phase.
	// +optional
	Step string `json:"step,omitempty" protobuf:"bytes,4,opt,name=step"`
	// status that the run, the phase or the step has since then.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,5,opt,name=status,casttype=ExecutionStatus"`
	// message says what it waits for or why it ended so.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,6,opt,name=message"`
}

// PhaseExecutionStatus says how far a phase of a run is.
type PhaseExecutionStatus struct {
	// name of the phase.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// strategy of the phase.
	// +optional
	Strategy Ordering `json:"strategy,omitempty" protobuf:"bytes,2,opt,name=strategy,casttype=Ordering"`
	// status of the phase.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status,casttype=ExecutionStatus"`
	// message says why the phase is where it is.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,4,opt,name=message"`
	// startTime is when the first step of the phase began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty" protobuf:"bytes,5,opt,name=startTime"`
	// completionTime is when the phase ended, well or not.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty" protobuf:"bytes,6,opt,name=completionTime"`
	// steps of the phase, in its order.
	// +optional
	// +listType=map
	// +listMapKey=name
	Steps []StepExecutionStatus `json:"steps,omitempty" protobuf:"bytes,7,rep,name=steps"`
}

// StepExecutionStatus says how far a step of a run is.
type StepExecutionStatus struct {
	// name of the step.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// status of the step.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status,casttype=ExecutionStatus"`
	// message says what the step waits for, or why it failed.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,3,opt,name=message"`
	// startTime is when the step began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty" protobuf:"bytes,4,opt,name=startTime"`
	// completionTime is when the step ended, well or not.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty" protobuf:"bytes,5,opt,name=completionTime"`
	// attempts counts how often the step was tried after an error, the first try included.
	// +optional
	Attempts int32 `json:"attempts,omitempty" protobuf:"varint,6,opt,name=attempts"`
	// nextAttemptTime is when the step is tried again after an error.
	// +optional
	NextAttemptTime *metav1.Time `json:"nextAttemptTime,omitempty" protobuf:"bytes,7,opt,name=nextAttemptTime"`
	// tasks of the step, in its order.
	// +optional
	// +listType=atomic
	Tasks []TaskExecutionStatus `json:"tasks,omitempty" protobuf:"bytes,8,rep,name=tasks"`
	// objects that the step applied or deleted.
	// +optional
	// +listType=atomic
	Objects []ObjectExecutionStatus `json:"objects,omitempty" protobuf:"bytes,9,rep,name=objects"`
}

// TaskExecutionStatus says how far a task of a step is.
type TaskExecutionStatus struct {
	// name of the task.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// status of the task.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status,casttype=ExecutionStatus"`
}

// ObjectExecutionStatus says how an object stands that a step applied or deleted.
type ObjectExecutionStatus struct {
	// apiVersion of the object.
	// +optional
	APIVersion string `json:"apiVersion,omitempty" protobuf:"bytes,1,opt,name=apiVersion"`
	// kind of the object.
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,opt,name=kind"`
	// namespace of the object; empty if the kind is cluster-scoped.
	// +optional
	Namespace string `json:"namespace,omitempty" protobuf:"bytes,3,opt,name=namespace"`
	// name of the object.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,4,opt,name=name"`
	// ready says that the step waits for nothing more of the object.
	// +optional
	Ready bool `json:"ready,omitempty" protobuf:"varint,5,opt,name=ready"`
	// message says what the step waits for.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,6,opt,name=message"`
	// uid of the object as the step applied it; empty until then.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,7,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
	// tasks of the step that apply the object, sorted. They are recorded before the object is applied.
	// +optional
	// +listType=atomic
	Tasks []string `json:"tasks,omitempty" protobuf:"bytes,8,rep,name=tasks"`
	// deleted says that the object has left the inventory of the Instance: it is gone, because the step deleted it, or message says why it is kept.
	// +optional
	Deleted bool `json:"deleted,omitempty" protobuf:"varint,9,opt,name=deleted"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionList is a list of PlanExecutions.
type PlanExecutionList struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// items are the PlanExecutions.
	Items []PlanExecution `json:"items" protobuf:"bytes,2,rep,name=items"`
}
