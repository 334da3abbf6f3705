// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanTrigger asks for one run of a plan. It is posted to the plans subresource of an Instance and is not stored.
type PlanTrigger struct {
	metav1.TypeMeta
	// metadata of the PlanExecution to be created: name or generateName, labels and annotations are used.
	metav1.ObjectMeta
	// planName is the plan to run. It may be empty where the path names the plan.
	PlanName string
	// parameters for this run only.
	Parameters map[string]string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePlans lists the plans of an Instance. It is computed, not stored.
type InstancePlans struct {
	metav1.TypeMeta
	// metadata names the Instance.
	metav1.ObjectMeta
	// plans that the Instance's OperatorVersion defines, by name.
	Plans []InstancePlan
}

// InstancePlan is one plan of an Instance with its last run.
type InstancePlan struct {
	// name of the plan.
	Name string
	// strategy of the plan.
	Strategy Ordering
	// active says that a run of the plan holds the Instance now.
	Active bool
	// lastRun is how the last run of the plan stands. Absent if there was none.
	LastRun *PlanStatus
	// defined says that the Instance's OperatorVersion has the plan. Only a defined plan can run; one that is not has run before an upgrade.
	Defined bool
	// lastRunName is the PlanExecution of the last run; empty if there was none or it is not kept any more.
	LastRunName string
	// lockedBy is the run, of whatever plan, that must end before this plan can start. Absent if the Instance is free.
	LockedBy *PlanLock
	// mayTrigger says whether the caller has the permission to start the plan.
	MayTrigger bool
	// mayTriggerMessage says which permission the caller lacks.
	MayTriggerMessage string
}

// PlanLock is a run that owns an Instance.
type PlanLock struct {
	// name of the PlanExecution.
	Name string
	// uid of the PlanExecution.
	UID types.UID
	// planName is the plan that runs.
	PlanName string
	// status of the run.
	Status ExecutionStatus
	// requestedBy is the name of the user who asked for the run.
	RequestedBy string
	// trigger is why the run was started.
	Trigger TriggerReason
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionCancel ends a run at once and frees its Instance. It is posted to the cancel subresource of a PlanExecution and is not
// stored. What the run has changed in the cluster stays as it is.
type PlanExecutionCancel struct {
	metav1.TypeMeta
	// metadata is the standard object metadata; nothing of it is read.
	metav1.ObjectMeta
	// message says why the run is cancelled. It goes into the status of the run.
	Message string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePlansOptions are the query options of the plans subresource.
type InstancePlansOptions struct {
	metav1.TypeMeta
	// path below the subresource: the name of a plan, or empty for all.
	Path string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlanExecutionLogOptions are the query options of the log subresource.
type PlanExecutionLogOptions struct {
	metav1.TypeMeta
	// follow keeps the stream open until the run ends. Defaults to false.
	Follow bool
	// format is "text", one line for a person, or "json", one PlanExecutionLogEntry a line. Defaults to text.
	Format string
	// sinceSequence leaves out the entries up to this sequence number, which the caller has. Defaults to 0: all entries.
	SinceSequence int64
}

// How the log is written.
const (
	// TextLogFormat is one line a person can read for each entry.
	TextLogFormat = "text"
	// JSONLogFormat is one JSON object a line for each entry.
	JSONLogFormat = "json"
)
