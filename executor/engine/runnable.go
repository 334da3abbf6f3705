// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Runnable names the steps that have begun, are not at their end and are not waiting for the time of their next try, in
// the order of the plan. All of them may be carried out at the same time. A step that is COMPLETE is never among them.
func Runnable(status *v1beta1.PlanExecutionStatus, now time.Time) []StepRef {
	if Terminal(status.Status) {
		return nil
	}
	var out []StepRef
	eachStep(status, func(p *v1beta1.PhaseExecutionStatus, s *v1beta1.StepExecutionStatus) {
		if begun(s.Status) && !now.Before(nextAttempt(s)) {
			out = append(out, StepRef{Phase: p.Name, Step: s.Name})
		}
	})
	return out
}

// NextTime is the earliest time at which something is due without anything happening in the cluster: the next try of a
// step or the deadline of the run. It is zero if there is none, and past if it came while others were carried out.
func NextTime(spec *v1beta1.PlanExecutionSpec, status *v1beta1.PlanExecutionStatus) time.Time {
	var next time.Time
	if Terminal(status.Status) {
		return next
	}
	consider := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	eachStep(status, func(_ *v1beta1.PhaseExecutionStatus, s *v1beta1.StepExecutionStatus) {
		if begun(s.Status) {
			consider(nextAttempt(s))
		}
	})
	consider(deadline(spec, status))
	return next
}

// Step finds a step, or nil.
func Step(status *v1beta1.PlanExecutionStatus, ref StepRef) *v1beta1.StepExecutionStatus {
	_, s := find(status, ref)
	return s
}

func find(status *v1beta1.PlanExecutionStatus, ref StepRef) (phase *v1beta1.PhaseExecutionStatus, step *v1beta1.StepExecutionStatus) {
	eachStep(status, func(p *v1beta1.PhaseExecutionStatus, s *v1beta1.StepExecutionStatus) {
		if step == nil && p.Name == ref.Phase && s.Name == ref.Step {
			phase, step = p, s
		}
	})
	return phase, step
}

func eachStep(status *v1beta1.PlanExecutionStatus, f func(*v1beta1.PhaseExecutionStatus, *v1beta1.StepExecutionStatus)) {
	for i := range status.Phases {
		for j := range status.Phases[i].Steps {
			f(&status.Phases[i], &status.Phases[i].Steps[j])
		}
	}
}

func nextAttempt(s *v1beta1.StepExecutionStatus) time.Time {
	if s.NextAttemptTime == nil {
		return time.Time{}
	}
	return s.NextAttemptTime.Time
}
