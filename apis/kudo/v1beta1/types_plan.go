// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

// Ordering says whether the children of a plan or a phase run one after another or at the same time.
// +enum
type Ordering string

const (
	// Serial runs one child after another, in the order in which they are listed. It is the default.
	Serial Ordering = "serial"
	// Parallel runs all children at the same time.
	Parallel Ordering = "parallel"
)

// Names of plans that have a fixed meaning.
const (
	// DeployPlanName is the plan that runs when an Instance is created.
	DeployPlanName = "deploy"
	// UpgradePlanName is the plan that runs when an Instance changes to another OperatorVersion.
	UpgradePlanName = "upgrade"
	// UpdatePlanName is the plan that runs when parameters change that name no plan of their own.
	UpdatePlanName = "update"
	// CleanupPlanName is the plan that runs when an Instance is deleted.
	CleanupPlanName = "cleanup"
)

// Plan is a tree of phases and steps.
type Plan struct {
	// strategy says how the phases run: serial (the default) or parallel.
	// +optional
	Strategy Ordering `json:"strategy,omitempty" protobuf:"bytes,1,opt,name=strategy,casttype=Ordering"`
	// phases of the plan. A plan without phases is complete at once.
	// +optional
	// +listType=atomic
	Phases []Phase `json:"phases,omitempty" protobuf:"bytes,2,rep,name=phases"`
}

// Phase is a list of steps that run under one strategy.
type Phase struct {
	// name of the phase, unique in its plan.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// strategy says how the steps run: serial (the default) or parallel.
	// +optional
	Strategy Ordering `json:"strategy,omitempty" protobuf:"bytes,2,opt,name=strategy,casttype=Ordering"`
	// steps of the phase.
	// +optional
	// +listType=atomic
	Steps []Step `json:"steps,omitempty" protobuf:"bytes,3,rep,name=steps"`
}

// Step is a list of tasks that are carried out in the order in which they are listed. The step is complete when all of them are.
type Step struct {
	// name of the step, unique in its phase.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// tasks are the names of the tasks of the step.
	// +optional
	// +listType=atomic
	Tasks []string `json:"tasks,omitempty" protobuf:"bytes,2,rep,name=tasks"`
}
