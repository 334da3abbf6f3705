// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Advance begins every step that may begin now and completes every phase, and the plan, whose children are complete.
// While suspend is set it begins nothing; steps that have begun go on. It keeps the condition Suspended and the messages
// of phases and plan up to date. Of a run that has failed it ends what had begun.
func Advance(status *v1beta1.PlanExecutionStatus, suspend bool, now time.Time) {
	if Terminal(status.Status) {
		closeOpen(status, now)
		return
	}
	setSuspended(status, suspend, now)
	if !suspend && status.StartTime == nil {
		status.StartTime, status.Status = stamp(now), v1beta1.ExecutionInProgress
	}
	complete := true
	for i := range status.Phases {
		p := &status.Phases[i]
		if !advancePhase(p, suspend, now) {
			complete = false
			if status.Strategy != v1beta1.Parallel {
				break
			}
		}
	}
	if complete && (!suspend || len(status.Phases) > 0) {
		status.Status, status.Message, status.CompletionTime = v1beta1.ExecutionComplete, "", stamp(now)
		setComplete(status, now)
	} else {
		summarize(status, suspend)
	}
}

func advancePhase(p *v1beta1.PhaseExecutionStatus, suspend bool, now time.Time) bool {
	if p.Status == v1beta1.ExecutionComplete {
		return true
	}
	complete := true
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status == v1beta1.ExecutionPending && !suspend {
			begin(p, s, now)
		}
		if s.Status != v1beta1.ExecutionComplete {
			complete = false
			if p.Strategy != v1beta1.Parallel {
				break
			}
		}
	}
	if !complete || suspend && len(p.Steps) == 0 {
		return false
	}
	if p.StartTime == nil {
		p.StartTime = stamp(now)
	}
	p.Status, p.Message, p.CompletionTime = v1beta1.ExecutionComplete, "", stamp(now)
	return true
}

func begin(p *v1beta1.PhaseExecutionStatus, s *v1beta1.StepExecutionStatus, now time.Time) {
	if p.StartTime == nil {
		p.StartTime = stamp(now)
	}
	p.Status = v1beta1.ExecutionInProgress
	s.Status, s.StartTime, s.Attempts = v1beta1.ExecutionInProgress, stamp(now), 1
	completeStep(s, now)
}

// completeStep completes a step none of whose tasks is open, which a step without tasks is from the start.
func completeStep(s *v1beta1.StepExecutionStatus, now time.Time) {
	for _, t := range s.Tasks {
		if t.Status != v1beta1.ExecutionComplete {
			return
		}
	}
	s.Status, s.Message, s.NextAttemptTime, s.CompletionTime = v1beta1.ExecutionComplete, "", nil, stamp(now)
}

// stamp cuts a time to seconds, which is all that the wire format keeps.
func stamp(t time.Time) *metav1.Time {
	out := metav1.NewTime(t.Truncate(time.Second))
	return &out
}
