// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// goneSoon is how soon after an answer an Instance may be gone so that the run which was accepted was never there to see: there
// is nothing to run any more.
const goneSoon = 10 * time.Second

// checkOperations compares what clients were told with the runs there are.
func (c *checker) checkOperations() {
	byID := map[int]*Operation{}
	named := map[RunRef]*Operation{}
	for i := range c.log.Operations {
		o := &c.log.Operations[i]
		byID[o.ID] = o
		if o.Started != nil {
			if other := named[*o.Started]; other != nil {
				c.complainOf(RuleAccepted, o, "it was told that it started run %s, and so was operation %d", o.Started.Name, other.ID)
			}
			named[*o.Started] = o
		}
	}
	started := map[int][]*v1beta1.PlanExecution{}
	pool := c.unanswered()
	for _, uid := range c.runs.order {
		pe := c.runs.byUID[uid].obj()
		o := c.cause(pe, byID, named, pool)
		if o == nil {
			c.complain(RuleAsked, pe, c.runs.byUID[uid].states[0].at, "nobody asked for this run of %s (%s)", pe.Spec.PlanName, pe.Spec.Trigger)
			continue
		}
		started[o.ID] = append(started[o.ID], pe)
		c.checkCause(o, pe, c.runs.byUID[uid].states[0].at)
	}
	for i := range c.log.Operations {
		c.checkOperation(&c.log.Operations[i], started[c.log.Operations[i].ID])
	}
}

// origin is what is known of the cause of a run that carries no mark of its operation.
type origin struct {
	client, namespace, instance string
	kind                        Kind
}

// unanswered are the operations without an answer whose runs carry no mark.
func (c *checker) unanswered() map[origin][]*Operation {
	pool := map[origin][]*Operation{}
	for i := range c.log.Operations {
		o := &c.log.Operations[i]
		if o.Outcome == Unknown && (o.Kind == Patch || o.Kind == Delete) {
			key := origin{o.Client, o.Namespace, o.Instance, o.Kind}
			pool[key] = append(pool[key], o)
		}
	}
	return pool
}

// cause is the operation that a run is due to, nil if there is none. It takes the operation out of the pool.
func (c *checker) cause(pe *v1beta1.PlanExecution, byID map[int]*Operation, named map[RunRef]*Operation, pool map[origin][]*Operation) *Operation {
	mark := pe.Annotations[OperationAnnotation]
	kind := Patch
	switch pe.Spec.Trigger {
	case v1beta1.TriggerCreate, v1beta1.TriggerParameterChange, v1beta1.TriggerUpgrade:
		mark = pe.Spec.InstanceParameters[OperationParameter]
	case v1beta1.TriggerCleanup:
		kind, mark = Delete, ""
	}
	if mark != "" {
		id, err := strconv.Atoi(mark)
		if err != nil {
			return nil
		}
		return byID[id]
	}
	if o := named[RunRef{pe.Name, pe.UID}]; o != nil {
		return o
	}
	key := origin{requester(pe), pe.Namespace, pe.Spec.InstanceName, kind}
	for i, o := range pool[key] {
		if len(o.Plans) == 0 || slices.Contains(o.Plans, pe.Spec.PlanName) {
			pool[key] = slices.Delete(pool[key], i, i+1)
			return o
		}
	}
	return nil
}

func requester(pe *v1beta1.PlanExecution) string {
	if pe.Spec.RequestedBy == nil {
		return ""
	}
	return pe.Spec.RequestedBy.Username
}

// checkCause compares a run with the operation that started it.
func (c *checker) checkCause(o *Operation, pe *v1beta1.PlanExecution, at time.Time) {
	if got := requester(pe); got != o.Client {
		c.complain(RuleRequester, pe, at, "operation %d of %s started it, and it names %q", o.ID, o.Client, got)
	}
	if pe.Namespace != o.Namespace || pe.Spec.InstanceName != o.Instance || len(o.Plans) > 0 && !slices.Contains(o.Plans, pe.Spec.PlanName) {
		c.complain(RuleAsked, pe, at, "operation %d asked for %v of %s/%s, and plan %s runs", o.ID, o.Plans, o.Namespace, o.Instance, pe.Spec.PlanName)
	}
}

// checkOperation compares the answer of an operation with the runs that it started.
func (c *checker) checkOperation(o *Operation, runs []*v1beta1.PlanExecution) {
	rule := RuleAccepted
	switch o.Outcome {
	case Refused:
		if len(runs) > 0 {
			c.complainOf(RuleRefused, o, "it was refused (%s) and started run %s", o.Answer, runs[0].Name)
		}
		return
	case Unknown:
		rule = RuleUnknown
	}
	if len(runs) > 1 {
		c.complainOf(rule, o, "it started %d runs: %s and %s", len(runs), runs[0].Name, runs[1].Name)
		return
	}
	if o.Outcome != Accepted {
		return
	}
	switch {
	case o.Started == nil && o.mustStart():
		c.complainOf(RuleAccepted, o, "it was accepted and the answer names no run")
	case o.Started == nil && len(runs) == 1:
		c.complainOf(RuleAccepted, o, "it started run %s, which the answer does not name", runs[0].Name)
	case o.Started != nil && len(runs) == 0:
		if !c.goneSoonAfter(o.InstanceUID, o.Answered) {
			c.complainOf(RuleAccepted, o, "run %s (%s), which was accepted, was never seen", o.Started.Name, o.Started.UID)
		}
	case o.Started != nil && (runs[0].UID != o.Started.UID || runs[0].Name != o.Started.Name):
		c.complainOf(RuleAccepted, o, "the answer names run %s (%s), and it started %s (%s)", o.Started.Name, o.Started.UID, runs[0].Name, runs[0].UID)
	}
}

// goneSoonAfter tells whether the Instance was gone so soon that its run may never have been there to see.
func (c *checker) goneSoonAfter(uid types.UID, at time.Time) bool {
	i := c.instances.byUID[uid]
	return i != nil && !i.gone.IsZero() && i.gone.Sub(at) < goneSoon
}

// complainOf complains about an operation.
func (c *checker) complainOf(rule Rule, o *Operation, format string, args ...any) {
	c.found = append(c.found, Violation{Rule: rule, Namespace: o.Namespace, Instance: o.Instance, At: o.Answered,
		Text: fmt.Sprintf("operation %d (%s by %s): ", o.ID, o.Kind, o.Client) + fmt.Sprintf(format, args...)})
}

// checkKept looks for runs that went without anybody's doing.
func (c *checker) checkKept() {
	deleted := map[RunRef]bool{}
	for i := range c.log.Operations {
		if o := &c.log.Operations[i]; o.Kind == Forget && o.Outcome != Refused {
			deleted[o.Target] = true
		}
	}
	for _, uid := range c.runs.order {
		r := c.runs.byUID[uid]
		pe := r.obj()
		if r.gone.IsZero() || deleted[RunRef{pe.Name, pe.UID}] {
			continue
		}
		if i := c.instances.byUID[owner(pe)]; i != nil && i.gone.IsZero() {
			c.complain(RuleKept, pe, r.gone, "it was %s and is gone, and nobody deleted it or its Instance", pe.Status.Status)
		}
	}
}
