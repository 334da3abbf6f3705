// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Fail ends the run with FATAL_ERROR. Steps that have begun are not tried again, and keep the status they have until Advance: others of
// the same pass may still report. Those that have not begun stay PENDING. A run that has ended is left as it is.
func Fail(status *v1beta1.PlanExecutionStatus, reason, message string, now time.Time) {
	if Terminal(status.Status) {
		return
	}
	status.Status, status.Message, status.CompletionTime = v1beta1.ExecutionFatalError, limit(message), stamp(now)
	eachStep(status, func(_ *v1beta1.PhaseExecutionStatus, s *v1beta1.StepExecutionStatus) { s.NextAttemptTime = nil })
	setFailed(status, cmp.Or(reason, "FatalError"), status.Message, now)
}

// closeOpen ends what had begun when the run failed, as the server does when it ends a run: under the end of a run nothing goes on.
// The messages stay, which say what was waited for.
func closeOpen(status *v1beta1.PlanExecutionStatus, now time.Time) {
	if status.Status != v1beta1.ExecutionFatalError {
		return
	}
	for i := range status.Phases {
		if p := &status.Phases[i]; begun(p.Status) {
			p.Status, p.CompletionTime = endOf(p), stamp(now)
		}
	}
	eachStep(status, func(_ *v1beta1.PhaseExecutionStatus, s *v1beta1.StepExecutionStatus) {
		if begun(s.Status) {
			s.Status, s.CompletionTime = v1beta1.ExecutionFatalError, stamp(now)
		}
		for i := range s.Tasks {
			if begun(s.Tasks[i].Status) {
				s.Tasks[i].Status = v1beta1.ExecutionFatalError
			}
		}
	})
}

// endOf is how a phase ends that the failure of its run meets: the pass that brought the failure may have completed its last step.
func endOf(p *v1beta1.PhaseExecutionStatus) v1beta1.ExecutionStatus {
	for i := range p.Steps {
		if p.Steps[i].Status != v1beta1.ExecutionComplete {
			return v1beta1.ExecutionFatalError
		}
	}
	return v1beta1.ExecutionComplete
}

// Expire ends a run that has taken longer than activeDeadlineSeconds since it started, held time included. Steps that
// have begun become FATAL_ERROR with what they waited for, which is what the reader of the failure looks for first.
// It reports whether it ended the run.
func Expire(spec *v1beta1.PlanExecutionSpec, status *v1beta1.PlanExecutionStatus, now time.Time) bool {
	end := deadline(spec, status)
	if Terminal(status.Status) || end.IsZero() || now.Before(end) {
		return false
	}
	open := ""
	for i := range status.Phases {
		p := &status.Phases[i]
		for j := range p.Steps {
			s := &p.Steps[j]
			if !begun(s.Status) {
				continue
			}
			if open == "" {
				open = fmt.Sprintf("; %s.%s was not complete: %s", p.Name, s.Name, s.Message)
			}
			s.Message = limit("not complete when the deadline of the run passed: " + s.Message)
			s.Status, s.CompletionTime = v1beta1.ExecutionFatalError, stamp(now)
			p.Status, p.CompletionTime = v1beta1.ExecutionFatalError, stamp(now)
			p.Message = limit("step " + s.Name + " was not complete when the deadline of the run passed")
		}
	}
	Fail(status, ReasonDeadlineExceeded, fmt.Sprintf("the run took longer than activeDeadlineSeconds (%d)%s", *spec.ActiveDeadlineSeconds, open), now)
	return true
}

// maxSeconds is as many as a time.Duration can hold; with more it would become negative and lie in the past.
const maxSeconds = math.MaxInt64 / int64(time.Second)

func deadline(spec *v1beta1.PlanExecutionSpec, status *v1beta1.PlanExecutionStatus) time.Time {
	if spec.ActiveDeadlineSeconds == nil || status.StartTime == nil {
		return time.Time{}
	}
	return status.StartTime.Add(time.Duration(min(*spec.ActiveDeadlineSeconds, maxSeconds)) * time.Second)
}
