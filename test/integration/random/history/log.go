// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Log is all that is known about a test.
type Log struct {
	Operations []Operation
	Instances  []Event[*v1beta1.Instance]
	Runs       []Event[*v1beta1.PlanExecution]
	// Outages are the times without a server.
	Outages []Span
	// Writes are what the executor did to the objects of plans.
	Writes []Write
	// End is when nothing went on any more.
	End time.Time
}

// Span is the time between two moments.
type Span struct{ From, To time.Time }

// How an operation can be recognised by the run it started: a PlanExecution or PlanTrigger carries the number of the operation
// in an annotation, a change of an Instance in a parameter, which the run keeps.
const (
	OperationAnnotation = "test.kudo.dev/operation"
	OperationParameter  = "operation"
)

// Kind is what a client asked for.
type Kind string

// Kinds of operations.
const (
	// Create is the creation of an Instance.
	Create Kind = "create"
	// Change is a change of parameters of an Instance.
	Change Kind = "change"
	// Upgrade is a change to another OperatorVersion.
	Upgrade Kind = "upgrade"
	// Trigger starts a plan by a PlanExecution or a PlanTrigger.
	Trigger Kind = "trigger"
	// Patch starts a plan as clients of KUDO 0.19 do, by spec.planExecution.planName of the Instance.
	Patch Kind = "patch"
	// Delete is the deletion of an Instance.
	Delete Kind = "delete"
	// Cancel ends a run.
	Cancel Kind = "cancel"
	// Suspend holds a run, Resume lets it go on.
	Suspend Kind = "suspend"
	// Resume lets a run go on that is held.
	Resume Kind = "resume"
	// Forget is the deletion of a run that has ended.
	Forget Kind = "forget"
)

// Outcome is what the client knows about its operation.
type Outcome string

// Outcomes of operations.
const (
	// Accepted is an answer that it was done.
	Accepted Outcome = "accepted"
	// Refused is an answer that it was not done and will not be.
	Refused Outcome = "refused"
	// Unknown is no answer, or one that leaves open whether it was done.
	Unknown Outcome = "unknown"
)

// Operation is one request of a client with its answer.
type Operation struct {
	ID     int
	Client string
	Kind   Kind
	// Namespace and Instance are of the Instance that it concerns.
	Namespace, Instance string
	// InstanceUID is the Instance that answered; empty if none did.
	InstanceUID types.UID
	// Target is the run that it cancels, suspends, resumes or deletes.
	Target RunRef
	// Plans are those of which it may start one; empty if it does not matter.
	Plans          []string
	Sent, Answered time.Time
	Outcome        Outcome
	// Answer is what was answered, for people.
	Answer string
	// Started is the run that the answer says the operation started; nil if it names none.
	Started *RunRef
}

// RunRef names a run.
type RunRef struct {
	Name string
	UID  types.UID
}

// mustStart tells whether the operation, if it was accepted, must have started a run. A Patch that names the plan that runs
// starts nothing, nor does the deletion of an Instance without cleanup.
func (o *Operation) mustStart() bool {
	switch o.Kind {
	case Create, Change, Upgrade, Trigger:
		return true
	}
	return false
}

// EventType is how a state was seen.
type EventType string

// Types of events.
const (
	// Listed is a list of all objects, from which a watch begins.
	Listed EventType = "listed"
	// Seen is a new state of an object.
	Seen EventType = "seen"
	// Gone is the deletion of an object.
	Gone EventType = "gone"
	// Broken is the end of a watch; nothing is seen until the next list.
	Broken EventType = "broken"
)

// Event is something that an observer saw of all objects of a kind, in the order in which it did.
type Event[T metav1.Object] struct {
	Type EventType
	At   time.Time
	// Version is the resource version at which it was so; 0 for Broken.
	Version uint64
	// Objects are the one that was seen or is gone, or all that were listed.
	Objects []T
}

// Write is something that the executor did to an object for a step of a run.
type Write struct {
	At          time.Time
	Run         types.UID
	Phase, Step string
	// Object and Verb are for people.
	Object, Verb string
}
