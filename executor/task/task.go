// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/inventory"
	"kudo.dev/kudo/executor/podfiles"
	"kudo.dev/kudo/executor/watch"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/render"
)

// Env is what a step gives its tasks.
type Env struct {
	Client *apply.Client
	// Kudo reads what tasks need to know of operators.
	Kudo   clientset.Interface
	Hub    *watch.Hub
	Lookup health.Lookup
	// Pods reads what containers wrote; PipeImage is the image of the container that keeps them readable.
	Pods      podfiles.Reader
	PipeImage string
	// Waiter is the step, as the hub knows it.
	Waiter watch.Waiter
	// Identity marks what is applied.
	Identity apply.Identity
	// Version refers to the OperatorVersion of the run.
	Version v1beta1.ObjectReference
	// Templates are the texts of the OperatorVersion.
	Templates map[string]string
	Variables render.Variables
	// Task is the name of the task that is carried out.
	Task string
	// Records is what is on record of the objects of the Instance.
	Records *inventory.View
	// Describes says that the run brings the Instance to the state that its parameters and its OperatorVersion describe.
	Describes bool
	// Ahead names, for objects with which an earlier task of the step is not done, that task.
	Ahead map[inventory.ID]string
	// Fresh asks for the cluster to be read instead of the informers' copies.
	Fresh bool
	// StuckLimit is how long pods may be stuck where their object does not say; 0 means without end.
	StuckLimit time.Duration
	// Clock defaults to the real one.
	Clock clock.PassiveClock
}

// Report is what an invocation of a task came to.
type Report struct {
	Outcome engine.Outcome
	// Err is why, if the outcome is Retry or Fatal.
	Err error
	// Message is what is waited for, if the outcome is Waiting.
	Message string
	Objects []v1beta1.ObjectExecutionStatus
	// Holds says that the tasks after this one must not be invoked before it is done.
	Holds bool
	// Recheck is the time after which to look again if nothing happens, where no event can be expected; zero means never.
	Recheck time.Duration
	// Warnings are for the author of the package; the work went on.
	Warnings []string
}

// Runner carries out one task of one step of one run. It remembers what it did between invocations, so that waiting costs
// no calls; a new Runner starts over.
type Runner interface {
	Run(ctx context.Context, env Env) Report
}

var kinds = map[string]func(v1beta1.TaskSpec) Runner{
	v1beta1.ApplyTaskKind:  func(s v1beta1.TaskSpec) Runner { return &applyTask{resources: s.Resources} },
	v1beta1.DeleteTaskKind: func(s v1beta1.TaskSpec) Runner { return &deleteTask{resources: s.Resources} },
	v1beta1.ToggleTaskKind: func(s v1beta1.TaskSpec) Runner { return &toggleTask{spec: s} },
	v1beta1.DummyTaskKind:  func(s v1beta1.TaskSpec) Runner { return dummyTask{s} },

	v1beta1.PipeTaskKind:         func(s v1beta1.TaskSpec) Runner { return &pipeTask{spec: s} },
	v1beta1.KudoOperatorTaskKind: func(s v1beta1.TaskSpec) Runner { return &kudoOperatorTask{spec: s} },
}

// New makes a Runner for a task. A kind that this executor does not know is a final error.
func New(t v1beta1.Task) (Runner, error) {
	runner, ok := kinds[t.Kind]
	if !ok {
		return nil, fault.Finalf(fault.ReasonTaskKind, "task %q: this executor does not carry out tasks of kind %q; it carries out %s. Use another kind or another version of the operator",
			t.Name, t.Kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return runner(t.Spec), nil
}

func done() Report { return Report{Outcome: engine.Done} }

// stopped reports an error, final or not as it is classified. Nothing after a task that met one is carried out: tasks
// run in the order in which they are listed.
func stopped(err error) Report {
	if _, final := fault.Classify(err); final {
		return Report{Outcome: engine.Fatal, Err: err, Holds: true}
	}
	return Report{Outcome: engine.Retry, Err: err, Holds: true}
}
