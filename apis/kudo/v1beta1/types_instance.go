// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +genclient
// +genclient:method=CreatePlan,verb=create,subresource=plans,input=PlanTrigger,result=PlanExecution
// +genclient:method=GetPlans,verb=get,subresource=plans,result=InstancePlans
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Instance is one running copy of an OperatorVersion, with its own parameters.
type Instance struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// spec says which version runs and with which parameters.
	// +optional
	Spec InstanceSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// status says how its plans went and whether it is ready.
	// +optional
	Status InstanceStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// InstanceSpec says which version of an operator runs and with which parameters.
type InstanceSpec struct {
	// operatorVersion refers to the OperatorVersion. Only name and namespace are read; an empty namespace is the Instance's own.
	// +optional
	OperatorVersion ObjectReference `json:"operatorVersion,omitempty" protobuf:"bytes,1,opt,name=operatorVersion"`
	// parameters set by the user. A parameter that is not set has the default of the OperatorVersion.
	// +optional
	Parameters map[string]string `json:"parameters,omitempty" protobuf:"bytes,2,rep,name=parameters"`
	// planExecution is the lock: it names the run that owns the Instance, and is empty while none does. The server writes it.
	// +optional
	PlanExecution InstancePlanExecution `json:"planExecution,omitempty" protobuf:"bytes,3,opt,name=planExecution"`
	// successfulRunsHistoryLimit is how many PlanExecutions that completed are kept; the oldest go first. Defaults to 10.
	// +optional
	SuccessfulRunsHistoryLimit *int32 `json:"successfulRunsHistoryLimit,omitempty" protobuf:"varint,4,opt,name=successfulRunsHistoryLimit"`
	// failedRunsHistoryLimit is how many PlanExecutions that failed are kept; the oldest go first. Defaults to 10.
	// +optional
	FailedRunsHistoryLimit *int32 `json:"failedRunsHistoryLimit,omitempty" protobuf:"varint,5,opt,name=failedRunsHistoryLimit"`
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
	// +optional
	PlanName string `json:"planName,omitempty" protobuf:"bytes,1,opt,name=planName"`
	// uid of the PlanExecution that holds the lock.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,2,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
	// status of the run.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status,casttype=ExecutionStatus"`
	// template is the PlanExecution as it was accepted. The server creates the object from it when it was stopped before it could.
	// +optional
	Template *PlanExecutionTemplate `json:"template,omitempty" protobuf:"bytes,4,opt,name=template"`
}

// PlanExecutionTemplate is a PlanExecution that is about to be created.
type PlanExecutionTemplate struct {
	// name of the PlanExecution.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// labels of the PlanExecution.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,2,rep,name=labels"`
	// annotations of the PlanExecution.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,3,rep,name=annotations"`
	// spec of the PlanExecution.
	// +optional
	Spec PlanExecutionSpec `json:"spec,omitempty" protobuf:"bytes,4,opt,name=spec"`
}

// InstanceStatus says how the plans of an Instance went and whether it is ready.
type InstanceStatus struct {
	// planStatus holds the last run of each plan, by the name of the plan.
	// +optional
	PlanStatus map[string]PlanStatus `json:"planStatus,omitempty" protobuf:"bytes,1,rep,name=planStatus"`
	// conditions of the Instance: Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,2,rep,name=conditions"`
	// inventory lists the objects that the plans of the Instance applied and did not delete. The server writes it, from what the run that
	// holds the Instance reports. An object is listed before it is applied, so one that is listed need not exist.
	// +optional
	// +listType=atomic
	Inventory []InventoryEntry `json:"inventory,omitempty" protobuf:"bytes,3,rep,name=inventory"`
}

// InventoryEntry is an object that plans of an Instance apply. Group, kind, namespace and name tell entries apart.
type InventoryEntry struct {
	// group of the object's API; empty for the core group.
	// +optional
	Group string `json:"group,omitempty" protobuf:"bytes,1,opt,name=group"`
	// version under which the object was last applied.
	// +optional
	Version string `json:"version,omitempty" protobuf:"bytes,2,opt,name=version"`
	// kind of the object.
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,3,opt,name=kind"`
	// namespace of the object; empty if the kind is cluster-scoped.
	// +optional
	Namespace string `json:"namespace,omitempty" protobuf:"bytes,4,opt,name=namespace"`
	// name of the object.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,5,opt,name=name"`
	// uid of the object as it was last applied; empty until the first time.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,6,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
	// tasks are the names of the tasks that apply the object, sorted.
	// +optional
	// +listType=atomic
	Tasks []string `json:"tasks,omitempty" protobuf:"bytes,7,rep,name=tasks"`
}

// ReadyConditionType is the condition of an Instance that says whether what its plans made is healthy.
const ReadyConditionType = "Ready"

// PlanStatus is how the last run of a plan stands.
type PlanStatus struct {
	// name of the plan.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// status of the plan.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status,casttype=ExecutionStatus"`
	// message says why.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,3,opt,name=message"`
	// lastUpdatedTimestamp is when this entry last changed.
	// +optional
	LastUpdatedTimestamp *metav1.Time `json:"lastUpdatedTimestamp,omitempty" protobuf:"bytes,4,opt,name=lastUpdatedTimestamp"`
	// phases of the plan, in its order.
	// +optional
	// +listType=atomic
	Phases []PhaseStatus `json:"phases,omitempty" protobuf:"bytes,5,rep,name=phases"`
	// uid of the PlanExecution.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,6,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
}

// PhaseStatus is how a phase of the last run of a plan stands.
type PhaseStatus struct {
	// name of the phase.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// status of the phase.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,2,opt,name=status,casttype=ExecutionStatus"`
	// message says why.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,3,opt,name=message"`
	// steps of the phase, in its order.
	// +optional
	// +listType=atomic
	Steps []StepStatus `json:"steps,omitempty" protobuf:"bytes,4,rep,name=steps"`
}

// StepStatus is how a step of the last run of a plan stands.
type StepStatus struct {
	// name of the step.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// message says why.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`
	// status of the step.
	// +optional
	Status ExecutionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status,casttype=ExecutionStatus"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceList is a list of Instances.
type InstanceList struct {
	metav1.TypeMeta `json:""`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`
	// items are the Instances.
	Items []Instance `json:"items" protobuf:"bytes,2,rep,name=items"`
}
