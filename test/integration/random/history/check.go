// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Rule names what must hold.
type Rule string

// The rules.
const (
	// RuleOrder: what observers see goes forward.
	RuleOrder Rule = "states are seen in order"
	// RuleAccepted: what was accepted leads to exactly one run, with the identity that the answer named.
	RuleAccepted Rule = "what was accepted runs once"
	// RuleRefused: what was refused leads to no run.
	RuleRefused Rule = "what was refused does not run"
	// RuleUnknown: what was not answered leads to at most one run.
	RuleUnknown Rule = "what was not answered runs at most once"
	// RuleAsked: every run was asked for, and is of the plan that was asked for.
	RuleAsked Rule = "only what was asked for runs"
	// RuleRequester: a run says who asked for it.
	RuleRequester Rule = "a run names who asked for it"
	// RuleKept: a run goes only when somebody deletes it, or with its Instance.
	RuleKept Rule = "runs are kept"
	// RuleOne: an Instance has one unfinished run at most, and that holds the lock.
	RuleOne Rule = "one unfinished run at most, which holds the lock"
	// RuleRelease: no lock outlives its run.
	RuleRelease Rule = "the lock is released soon after the end of its run"
	// RuleStep: a step that is on record as complete stays so.
	RuleStep Rule = "a complete step stays complete"
	// RuleWrite: the objects of a step that is on record as complete are not written again by its run.
	RuleWrite Rule = "a complete step writes nothing"
	// RuleTree: the tree of a run that has ended is whole.
	RuleTree Rule = "the tree of a run that has ended is whole"
	// RuleFinal: the status of a run that has ended does not change.
	RuleFinal Rule = "the end of a run is final"
	// RuleIdentity: a run stays what it was started as.
	RuleIdentity Rule = "a run stays what it was started as"
	// RuleLog: the log of a run is without gaps and only grows.
	RuleLog Rule = "the log has no gaps and only grows"
	// RuleCancel: a run is cancelled if, and only if, somebody did, and by one request.
	RuleCancel Rule = "a run is cancelled by one request"
	// RuleSuccessor: a run that was superseded has a successor.
	RuleSuccessor Rule = "a superseded run has a successor"
	// RuleQuiet: in the end nothing is locked, runs or waits to be deleted.
	RuleQuiet Rule = "nothing hangs in the end"
	// RuleMirror: what an Instance says of the last run of a plan is what the run says.
	RuleMirror Rule = "an Instance says of its runs what they say"
)

// Violation is a complaint.
type Violation struct {
	Rule Rule
	// Namespace and Instance are where; Run is empty if it concerns no single run.
	Namespace, Instance, Run string
	// At is about when; zero if there is no such moment.
	At   time.Time
	Text string
}

func (v Violation) String() string {
	where := v.Namespace + "/" + v.Instance
	if v.Run != "" {
		where += ", run " + v.Run
	}
	return fmt.Sprintf("%s: %s: %s", v.Rule, where, v.Text)
}

// of is a complaint about an Instance or a run.
func of(rule Rule, obj metav1.Object, at time.Time, text string) Violation {
	v := Violation{Rule: rule, Namespace: obj.GetNamespace(), Instance: obj.GetName(), At: at, Text: text}
	if pe, ok := obj.(*v1beta1.PlanExecution); ok {
		v.Instance, v.Run = pe.Spec.InstanceName, pe.Name
	}
	return v
}

type (
	instanceLine = timeline[*v1beta1.Instance]
	runLine      = timeline[*v1beta1.PlanExecution]
)

// checker holds a log in the form in which it is checked.
type checker struct {
	log       *Log
	instances *watched[*v1beta1.Instance]
	runs      *watched[*v1beta1.PlanExecution]
	// ofInstance are the runs of an Instance, by first sight.
	ofInstance map[types.UID][]*runLine
	// down are the times in which no server answered in time, or nobody looked.
	down []Span
	// haveLogs says that runs have logs.
	haveLogs bool
	found    []Violation
}

// Check returns all that is wrong with the log, in the order of time.
func Check(log *Log) []Violation {
	c := newChecker(log)
	c.checkOperations()
	c.checkKept()
	c.checkCancels()
	c.checkSuccessors()
	c.checkLocks()
	for _, uid := range c.runs.order {
		r := c.runs.byUID[uid]
		c.checkIdentity(r)
		c.checkEnd(r)
		c.checkSteps(r)
		c.checkLog(r)
	}
	c.checkWrites()
	c.checkQuiet()
	slices.SortStableFunc(c.found, func(a, b Violation) int { return a.At.Compare(b.At) })
	return c.found
}

func newChecker(log *Log) *checker {
	c := &checker{log: log, instances: watch(log.Instances, log.End), runs: watch(log.Runs, log.End), ofInstance: map[types.UID][]*runLine{}}
	c.found = append(c.instances.wrong, c.runs.wrong...)
	c.down = slices.Concat(log.Outages, c.instances.blind, c.runs.blind, slow(log))
	c.haveLogs = c.logged()
	for _, uid := range c.runs.order {
		r := c.runs.byUID[uid]
		if owner := owner(r.obj()); owner != "" {
			c.ofInstance[owner] = append(c.ofInstance[owner], r)
		}
	}
	return c
}

// slowAnswer is how long an answer takes only where the machine has too much to do. What then takes long says nothing about the server.
const slowAnswer = 500 * time.Millisecond

// slow are the times in which clients waited for such answers.
func slow(log *Log) []Span {
	var out []Span
	for i := range log.Operations {
		if o := &log.Operations[i]; o.Answered.Sub(o.Sent) > slowAnswer {
			out = append(out, Span{o.Sent, o.Answered})
		}
	}
	return out
}

func (c *checker) complain(rule Rule, obj metav1.Object, at time.Time, format string, args ...any) {
	c.found = append(c.found, of(rule, obj, at, fmt.Sprintf(format, args...)))
}

// owner is the uid of the Instance of a run.
func owner(pe *v1beta1.PlanExecution) types.UID {
	if o := metav1.GetControllerOf(pe); o != nil {
		return o.UID
	}
	return ""
}

func ended(pe *v1beta1.PlanExecution) bool { return pe.Status.Status.IsTerminal() }

// end is when the run was first seen to have ended; zero if it never was.
func end(r *runLine) time.Time {
	for i := range r.states {
		if ended(r.states[i].obj) {
			return r.states[i].at
		}
	}
	return time.Time{}
}
