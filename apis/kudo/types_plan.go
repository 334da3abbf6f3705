// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

// Ordering says whether the children of a plan or a phase run one after another or at the same time.
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
	Strategy Ordering
	// phases of the plan. A plan without phases is complete at once.
	Phases []Phase
}

// Phase is a list of steps that run under one strategy.
type Phase struct {
	// name of the phase, unique in its plan.
	Name string
	// strategy says how the steps run: serial (the default) or parallel.
	Strategy Ordering
	// steps of the phase.
	Steps []Step
}

// Step is a list of tasks that are carried out in the order in which they are listed. The step is complete when all of them are.
type Step struct {
	// name of the step, unique in its phase.
	Name string
	// tasks are the names of the tasks of the step.
	Tasks []string
}
