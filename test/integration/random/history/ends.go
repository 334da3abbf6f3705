// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"regexp"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// failedFor is the reason of a run that failed.
func failedFor(pe *v1beta1.PlanExecution) string {
	if cond := meta.FindStatusCondition(pe.Status.Conditions, v1beta1.FailedConditionType); cond != nil && pe.Status.Status == v1beta1.ExecutionFatalError {
		return cond.Reason
	}
	return ""
}

// checkCancels compares the requests to cancel runs with the runs that were.
func (c *checker) checkCancels() {
	accepted, possible := map[types.UID][]*Operation{}, map[types.UID]bool{}
	for i := range c.log.Operations {
		o := &c.log.Operations[i]
		if o.Kind != Cancel || o.Outcome == Refused {
			continue
		}
		possible[o.Target.UID] = true
		if o.Outcome == Accepted {
			accepted[o.Target.UID] = append(accepted[o.Target.UID], o)
		}
	}
	for _, uid := range c.runs.order {
		r := c.runs.byUID[uid]
		pe := r.obj()
		cancelled := failedFor(pe) == v1beta1.ReasonCancelled
		switch n := len(accepted[uid]); {
		case n > 1:
			c.complain(RuleCancel, pe, end(r), "operations %d and %d were both told that they cancelled it", accepted[uid][0].ID, accepted[uid][1].ID)
		case n == 1 && !cancelled && ended(pe):
			c.complain(RuleCancel, pe, end(r), "operation %d cancelled it, and it ended with %s (%s)", accepted[uid][0].ID, pe.Status.Status, failedFor(pe))
		case cancelled && !possible[uid]:
			c.complain(RuleCancel, pe, end(r), "it was cancelled, and nobody was told that they did")
		}
	}
}

var successor = regexp.MustCompile(`^superseded by PlanExecution "([^"]+)"`)

// checkSuccessors looks for the runs that others were superseded by. An Instance that goes at once may leave none.
func (c *checker) checkSuccessors() {
	names := map[types.NamespacedName]bool{}
	for _, r := range c.runs.byUID {
		names[types.NamespacedName{Namespace: r.obj().Namespace, Name: r.obj().Name}] = true
	}
	for _, uid := range c.runs.order {
		r := c.runs.byUID[uid]
		pe := r.obj()
		if failedFor(pe) != v1beta1.ReasonSuperseded {
			continue
		}
		match := successor.FindStringSubmatch(pe.Status.Message)
		switch {
		case match == nil:
			c.complain(RuleSuccessor, pe, end(r), "its message names no successor: %q", pe.Status.Message)
		case !names[types.NamespacedName{Namespace: pe.Namespace, Name: match[1]}] && !c.goneSoonAfter(owner(pe), end(r)):
			c.complain(RuleSuccessor, pe, end(r), "there is no run %s, by which it says it was superseded", match[1])
		}
	}
}

// checkQuiet looks at how all was left.
func (c *checker) checkQuiet() {
	for _, uid := range c.instances.order {
		i := c.instances.byUID[uid]
		if !i.gone.IsZero() {
			continue
		}
		last := i.obj()
		if last.Spec.PlanExecution.UID != "" {
			c.complain(RuleQuiet, last, i.last().at, "it is still locked by a run of %s (%s)", last.Spec.PlanExecution.PlanName, last.Spec.PlanExecution.UID)
		}
		if last.DeletionTimestamp != nil {
			c.complain(RuleQuiet, last, i.last().at, "it is being deleted and never goes; finalizers %v", last.Finalizers)
		}
		for plan, status := range last.Status.PlanStatus {
			if r := c.runs.byUID[status.UID]; r != nil && ended(r.obj()) && status.Status != r.obj().Status.Status {
				c.complain(RuleMirror, r.obj(), i.last().at, "it is %s, and the Instance says of plan %s that it is %s", r.obj().Status.Status, plan, status.Status)
			}
		}
	}
	for _, uid := range c.runs.order {
		if r := c.runs.byUID[uid]; r.gone.IsZero() && !ended(r.obj()) {
			c.complain(RuleQuiet, r.obj(), r.last().at, "it is %s and never ends", r.obj().Status.Status)
		}
	}
}
