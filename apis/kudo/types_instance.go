// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Instance is one running copy of an OperatorVersion, with its own parameters.
type Instance struct {
	metav1.TypeMeta
	// metadata is the standard object metadata.
	metav1.ObjectMeta
	// spec says which version runs and with which parameters.
	Spec InstanceSpec
	// status says how its plans went and whether it is ready.
	Status InstanceStatus
}

// InstanceSpec says which version of an operator runs and with which parameters.
type InstanceSpec struct {
	// operatorVersion refers to the OperatorVersion. Only name and namespace are read; an empty namespace is the Instance's own.
	OperatorVersion ObjectReference
	// parameters set by the user. A parameter that is not set has the default of the OperatorVersion.
	Parameters map[string]string
	// planExecution is the lock: it names the run that owns the Instance, and is empty while none does. The server writes it.
	PlanExecution InstancePlanExecution
	// successfulRunsHistoryLimit is how many PlanExecutions that completed are kept; the oldest go first. Nil means DefaultRunsHistoryLimit.
	SuccessfulRunsHistoryLimit *int32
	// failedRunsHistoryLimit is how many PlanExecutions that failed are kept; the oldest go first. Nil means DefaultRunsHistoryLimit.
	FailedRunsHistoryLimit *int32
}

// DefaultRunsHistoryLimit is how many completed and how many failed PlanExecutions of an Instance are kept that says nothing else.
const DefaultRunsHistoryLimit = 10

// CleanupFinalizer keeps an Instance whose OperatorVersion has a plan "cleanup" until that plan has completed.
const CleanupFinalizer = "kudo.dev.instance.cleanup"

// InventoryFinalizer keeps an Instance whose inventory lists objects that it cannot own, which are all that are not in its namespace,
// until the executor has deleted them.
const InventoryFinalizer = "kudo.dev/inventory"

// InstancePlanExecution is the lock on an Instance, held by one run from the request that started it until its end.
type InstancePlanExecution struct {
	// planName is the plan that runs; empty means that none does.
	PlanName string
	// uid of the PlanExecution that holds the lock.
	UID types.UID
	// status of the run.
	Status ExecutionStatus
	// template is the PlanExecution as it was accepted. The server creates the object from it when it was stopped before it could.
	Template *PlanExecutionTemplate
}

// PlanExecutionTemplate is a PlanExecution that is about to be created.
type PlanExecutionTemplate struct {
	// name of the PlanExecution.
	Name string
	// labels of the PlanExecution.
	Labels map[string]string
	// annotations of the PlanExecution.
	Annotations map[string]string
	// spec of the PlanExecution.
	Spec PlanExecutionSpec
}

// InstanceStatus says how the plans of an Instance went and whether it is ready.
type InstanceStatus struct {
	// planStatus holds the last run of each plan, by the name of the plan.
	PlanStatus map[string]PlanStatus
	// conditions of the Instance: Ready.
	Conditions []metav1.Condition
	// inventory lists the objects that the plans of the Instance applied and did not delete. The server writes it, from what the run that
	// holds the Instance reports. An object is listed before it is applied, so one that is listed need not exist.
	Inventory []InventoryEntry
}

// InventoryEntry is an object that plans of an Instance apply. Group, kind, namespace and name tell entries apart.
type InventoryEntry struct {
	// group of the object's API; empty for the core group.
	Group string
	// version under which the object was last applied.
	Version string
	// kind of the object.
	Kind string
	// namespace of the object; empty if the kind is cluster-scoped.
	Namespace string
	// name of the object.
	Name string
	// uid of the object as it was last applied; empty until the first time.
	UID types.UID
	// tasks are the names of the tasks that apply the object, sorted.
	Tasks []string
}

// ReadyConditionType is the condition of an Instance that says whether what its plans made is healthy.
const ReadyConditionType = "Ready"

// PlanStatus is how the last run of a plan stands.
type PlanStatus struct {
	// name of the plan.
	Name string
	// status of the plan.
	Status ExecutionStatus
	// message says why.
	Message string
	// lastUpdatedTimestamp is when this entry last changed.
	LastUpdatedTimestamp *metav1.Time
	// phases of the plan, in its order.
	Phases []PhaseStatus
	// uid of the PlanExecution.
	UID types.UID
}

// PhaseStatus is how a phase of the last run of a plan stands.
type PhaseStatus struct {
	// name of the phase.
	Name string
	// status of the phase.
	Status ExecutionStatus
	// message says why.
	Message string
	// steps of the phase, in its order.
	Steps []StepStatus
}

// StepStatus is how a step of the last run of a plan stands.
type StepStatus struct {
	// name of the step.
	Name string
	// message says why.
	Message string
	// status of the step.
	Status ExecutionStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceList is a list of Instances.
type InstanceList struct {
	metav1.TypeMeta
	// metadata is the standard list metadata.
	metav1.ListMeta
	// items are the Instances.
	Items []Instance
}
