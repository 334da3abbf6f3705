// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// StepRef names a step of a plan.
type StepRef struct {
	Phase, Step string
}

// String is phase.step.
func (r StepRef) String() string { return r.Phase + "." + r.Step }

// Outcome is what one invocation of a task came to.
type Outcome string

const (
	// Done means that the task has nothing left to do, ever.
	Done Outcome = "Done"
	// Waiting means that the task has acted and waits for the cluster.
	Waiting Outcome = "Waiting"
	// Retry means an error that can go away: the step is tried again later.
	Retry Outcome = "Retry"
	// Fatal means an error that ends the run.
	Fatal Outcome = "Fatal"
)

// TaskResult is what one invocation of a task reported.
type TaskResult struct {
	// Task is the name of the task.
	Task    string
	Outcome Outcome
	// Reason is one CamelCase word for an error; it becomes the reason of the condition Failed.
	Reason string
	// Message is the cause of an error, or what a waiting task waits for.
	Message string
	// RetryAfter is the least time until the next try that a server asked for; zero means none.
	RetryAfter time.Duration
}

// Result is what one pass over the tasks of a step reported.
type Result struct {
	// Tasks that were invoked, in order. Those that were not keep their recorded status.
	Tasks []TaskResult
	// Objects the invoked tasks applied or deleted. Those recorded by earlier passes are kept.
	Objects []v1beta1.ObjectExecutionStatus
	// Spread in [0,1) says where in its range the delay before the next try lies. It is drawn at random by the caller.
	Spread float64
}

// Reasons of the condition Failed that come from the state machine itself.
const (
	// ReasonDeadlineExceeded means that the run took longer than activeDeadlineSeconds.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonInvalidPlan means that the plan is unknown, or has two phases or steps of one name.
	ReasonInvalidPlan = "InvalidPlan"
	// ReasonUnknownTask means that a step names a task that the OperatorVersion does not define.
	ReasonUnknownTask = "UnknownTaskName"
	// ReasonStatusRefused means that the server does not take the status that the run has come to.
	ReasonStatusRefused = "StatusRefused"
)

// Terminal says whether a status is final.
func Terminal(s v1beta1.ExecutionStatus) bool {
	return s == v1beta1.ExecutionComplete || s == v1beta1.ExecutionFatalError
}

func begun(s v1beta1.ExecutionStatus) bool {
	return s == v1beta1.ExecutionInProgress || s == v1beta1.ErrorStatus
}
