// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecution is one run of a plan of an Instance, kept as its history. Creating one starts the run.
type PlanExecution struct {
	metav1.TypeMeta
	// metadata is the standard object metadata. Its uid is the identity of the run.
	metav1.ObjectMeta
	// spec says what is run, for whom and why. Only suspend, activeDeadlineSeconds and ttlSecondsAfterFinished can be changed.
	Spec PlanExecutionSpec
	// status says how far the run is.
	Status PlanExecutionStatus
}

// PlanExecutionSpec says what is run, for whom and why.
type PlanExecutionSpec struct {
	// instanceName is the Instance, in the same namespace.
	InstanceName string
	// planName is the plan of the Instance's OperatorVersion.
	PlanName string
	// parameters for this run only; they win over those of the Instance.
	Parameters map[string]string
	// suspend holds the run before its next step. Steps that have begun are finished. Defaults to false.
	Suspend bool
	// activeDeadlineSeconds ends the run as failed when it has taken that many seconds since it started. Absent means no limit.
	ActiveDeadlineSeconds *int64
	// ttlSecondsAfterFinished deletes the PlanExecution that many seconds after its end. Absent means that it is kept.
	TTLSecondsAfterFinished *int32
	// requestedBy is who asked for the run. The server writes it.
	RequestedBy *RequestedBy
	// trigger is why the run was started. The server writes it.
	Trigger TriggerReason
	// operatorVersion refers to the OperatorVersion of the Instance at the start of the run. The server writes it.
	OperatorVersion ObjectReference
	// revisionName is the OperatorVersionRevision that holds the content of the OperatorVersion at the start of the run.
	// The run uses that content even if the OperatorVersion is changed or deleted meanwhile. The server writes it.
	RevisionName string
	// instanceParameters are the parameters of the Instance at the start of the run. The server writes them.
	InstanceParameters map[string]string
}

// RequestedBy is the user who asked for a run, as the server authenticated them.
type RequestedBy struct {
	// username of the user.
	Username string
	// uid of the user.
	UID string
	// groups of the user.
	Groups []string
	// extra information of the authenticator.
	Extra map[string]ExtraValue
}

// ExtraValue is a list of values of one key.
type ExtraValue []string

// TriggerReason is why a run was started.
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
	Status ExecutionStatus
	// message says why the run is where it is.
	Message string
	// startTime is when the executor took up the run.
	StartTime *metav1.Time
	// completionTime is when the run ended, well or not.
	CompletionTime *metav1.Time
	// conditions of the run: Complete, Failed, Suspended.
	Conditions []metav1.Condition
	// strategy of the plan.
	Strategy Ordering
	// phases of the plan, in its order.
	Phases []PhaseExecutionStatus
	// log is what happened in the run, in order. The server writes it with every change of the status. It holds the last
	// MaxLogEntries entries; what is older is dropped, first what a step waited for.
	Log []PlanExecutionLogEntry
}

// MaxLogEntries bounds status.log.
const MaxLogEntries = 1000

// PlanExecutionLogEntry is one thing that happened in a run.
type PlanExecutionLogEntry struct {
	// sequence counts the entries of a run from 1, without gaps. An entry never changes.
	Sequence int64
	// time is when the server recorded it.
	Time metav1.MicroTime
	// phase that it happened in; empty if it concerns the whole run.
	Phase string
	// step that it happened in; empty if it concerns the whole phase.
	Step string
	// status that the run, the phase or the step has since then.
	Status ExecutionStatus
	// message says what it waits for or why it ended so.
	Message string
}

// PhaseExecutionStatus says how far a phase of a run is.
type PhaseExecutionStatus struct {
	// name of the phase.
	Name string
	// strategy of the phase.
	Strategy Ordering
	// status of the phase.
	Status ExecutionStatus
	// message says why the phase is where it is.
	Message string
	// startTime is when the first step of the phase began.
	StartTime *metav1.Time
	// completionTime is when the phase ended, well or not.
	CompletionTime *metav1.Time
	// steps of the phase, in its order.
	Steps []StepExecutionStatus
}

// StepExecutionStatus says how far a step of a run is.
type StepExecutionStatus struct {
	// name of the step.
	Name string
	// status of the step.
	Status ExecutionStatus
	// message says what the step waits for, or why it failed.
	Message string
	// startTime is when the step began.
	StartTime *metav1.Time
	// completionTime is when the step ended, well or not.
	CompletionTime *metav1.Time
	// attempts counts how often the step was tried after an error, the first try included.
	Attempts int32
	// nextAttemptTime is when the step is tried again after an error.
	NextAttemptTime *metav1.Time
	// tasks of the step, in its order.
	Tasks []TaskExecutionStatus
	// objects that the step applied or deleted.
	Objects []ObjectExecutionStatus
}

// TaskExecutionStatus says how far a task of a step is.
type TaskExecutionStatus struct {
	// name of the task.
	Name string
	// status of the task.
	Status ExecutionStatus
}

// ObjectExecutionStatus says how an object stands that a step applied or deleted.
type ObjectExecutionStatus struct {
	// apiVersion of the object.
	APIVersion string
	// kind of the object.
	Kind string
	// namespace of the object; empty if the kind is cluster-scoped.
	Namespace string
	// name of the object.
	Name string
	// ready says that the step waits for nothing more of the object.
	Ready bool
	// message says what the step waits for.
	Message string
	// uid of the object as the step applied it; empty until then.
	UID types.UID
	// tasks of the step that apply the object, sorted. They are recorded before the object is applied.
	Tasks []string
	// deleted says that the object has left the inventory of the Instance: it is gone, because the step deleted it, or message says why it is kept.
	Deleted bool
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionList is a list of PlanExecutions.
type PlanExecutionList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta
	// items are the PlanExecutions.
	Items []PlanExecution
}
