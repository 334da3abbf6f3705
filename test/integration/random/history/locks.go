// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// LockTime is the longest that an Instance may stay locked after its run has ended, while there is a server.
const LockTime = 3 * time.Second

func (c *checker) checkLocks() {
	for _, uid := range c.instances.order {
		i := c.instances.byUID[uid]
		for n, r := range c.ofInstance[uid] {
			c.checkHolder(i, r)
			for _, other := range c.ofInstance[uid][:n] {
				c.checkTogether(r, other)
			}
		}
		c.checkRelease(i)
	}
}

// supersedesAnnotation names the run from which a run took the lock over.
const supersedesAnnotation = "kudo.dev/supersedes"

// checkHolder looks for a moment in which an unfinished run did not hold the lock of its Instance. The run from which another took the
// lock over has a little time to end.
func (c *checker) checkHolder(i *instanceLine, r *runLine) {
	for _, run := range r.states {
		if ended(run.obj) {
			return
		}
		for _, inst := range i.states {
			held := inst.obj.Spec.PlanExecution.UID
			if held == run.obj.UID || inst.from > run.until || run.from > inst.until {
				continue
			}
			t := inst.obj.Spec.PlanExecution.Template
			if t == nil || t.Annotations[supersedesAnnotation] != run.obj.Name {
				c.complain(RuleOne, run.obj, run.at, "it is %s from version %d to %d, and from %d to %d the Instance is locked by %q", run.obj.Status.Status, run.from, run.until, inst.from, inst.until, held)
				return
			}
			if late := without(inst.at, c.endOf(r), c.down); late > LockTime {
				c.complain(RuleOne, run.obj, inst.at, "run %s took over from it, and it ended %v later", t.Name, late.Round(time.Millisecond))
				return
			}
		}
	}
}

// endOf is when a run ended or went, or the end of the log if it did neither.
func (c *checker) endOf(r *runLine) time.Time {
	switch at := end(r); {
	case !at.IsZero():
		return at
	case !r.gone.IsZero():
		return r.gone
	}
	return c.log.End
}

// checkTogether looks for a moment in which two runs were unfinished.
func (c *checker) checkTogether(r, other *runLine) {
	from, until := unfinished(r)
	otherFrom, otherUntil := unfinished(other)
	if from != 0 && otherFrom != 0 && from <= otherUntil && otherFrom <= until {
		c.complain(RuleOne, r.obj(), r.states[0].at, "it is unfinished from version %d to %d, and run %s from %d to %d", from, until, other.obj().Name, otherFrom, otherUntil)
	}
}

// unfinished is from when to when a run is known to be unfinished; 0 if it never is. What is unfinished at two moments is so
// in between.
func unfinished(r *runLine) (from, until uint64) {
	for _, s := range r.states {
		if ended(s.obj) {
			break
		}
		if from == 0 {
			from = s.from
		}
		until = s.until
	}
	return from, until
}

// checkRelease looks for locks that were held too long after the end of their run.
func (c *checker) checkRelease(i *instanceLine) {
	var holder types.UID
	var last *v1beta1.Instance
	release := func(at time.Time) {
		r := c.runs.byUID[holder]
		if r == nil || end(r).IsZero() {
			return
		}
		if late := without(end(r), at, c.down); late > LockTime {
			c.complain(RuleRelease, r.obj(), end(r), "Instance %s was locked for %v after its end", last.Name, late.Round(time.Millisecond))
		}
	}
	for _, s := range i.states {
		if now := s.obj.Spec.PlanExecution.UID; now != holder {
			release(s.at)
			holder = now
		}
		last = s.obj
	}
	if i.gone.IsZero() {
		release(c.log.End)
	} else {
		release(i.gone)
	}
}
