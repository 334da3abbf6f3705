// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Record takes in what a pass over the tasks of a step reported: the step becomes COMPLETE when all its tasks are,
// FATAL_ERROR (and with it the phase and the run) when one of them cannot go on, ERROR with the time of the next try
// when one met an error that can go away, and is IN_PROGRESS otherwise.
//
// Steps that ran at the same time may report after one of them has ended the run: what they finished is still
// recorded, because it is true, but nothing is tried again.
func Record(status *v1beta1.PlanExecutionStatus, planName string, ref StepRef, result Result, now time.Time) {
	p, s := find(status, ref)
	if s == nil || !begun(s.Status) {
		return
	}
	if s.Status == v1beta1.ErrorStatus {
		s.Attempts++ // this pass was a new try, whatever came of it
	}
	recordTasks(s, result.Tasks)
	s.Objects = mergeObjects(s.Objects, result.Objects)
	worst := worstOf(result.Tasks)
	switch {
	case worst != nil && worst.Outcome == Fatal:
		where := fmt.Sprintf("%s.%s.%s", planName, ref, worst.Task)
		s.Status, s.NextAttemptTime, s.CompletionTime = v1beta1.ExecutionFatalError, nil, stamp(now)
		s.Message = limit(where + ": " + worst.Message)
		p.Status, p.CompletionTime = v1beta1.ExecutionFatalError, stamp(now)
		p.Message = limit("step " + s.Name + " failed")
		if !Terminal(status.Status) {
			Fail(status, worst.Reason, where+": "+worst.Message, now)
		}
	case Terminal(status.Status):
		completeStep(s, now)
	case worst != nil && worst.Outcome == Retry:
		recordRetry(s, *worst, result.Spread, now)
	default:
		s.Status, s.NextAttemptTime = v1beta1.ExecutionInProgress, nil
		s.Message = waitingFor(result.Tasks)
		completeStep(s, now)
	}
}

func recordTasks(s *v1beta1.StepExecutionStatus, results []TaskResult) {
	for _, r := range results {
		for i := range s.Tasks {
			if t := &s.Tasks[i]; t.Name == r.Task && t.Status != v1beta1.ExecutionComplete {
				t.Status = map[Outcome]v1beta1.ExecutionStatus{Done: v1beta1.ExecutionComplete, Waiting: v1beta1.ExecutionInProgress,
					Retry: v1beta1.ErrorStatus, Fatal: v1beta1.ExecutionFatalError}[r.Outcome]
			}
		}
	}
}

func recordRetry(s *v1beta1.StepExecutionStatus, r TaskResult, spread float64, now time.Time) {
	delay := max(Backoff(s.Attempts, spread), r.RetryAfter)
	next := stamp(now.Add(delay))
	if next.Time.Before(now.Add(delay)) {
		next = stamp(next.Add(time.Second)) // cutting to seconds must not shorten the delay
	}
	s.Status, s.NextAttemptTime = v1beta1.ErrorStatus, next
	s.Message = limit(fmt.Sprintf("task %s: %s", r.Task, r.Message)) + fmt.Sprintf("; will retry at %s", next.UTC().Format(time.RFC3339))
}

// worstOf is the first fatal result or, failing that, the first one that is retried.
func worstOf(results []TaskResult) *TaskResult {
	var retry *TaskResult
	for i := range results {
		switch r := &results[i]; {
		case r.Outcome == Fatal:
			return r
		case r.Outcome == Retry && retry == nil:
			retry = r
		}
	}
	return retry
}

func waitingFor(results []TaskResult) string {
	var parts []string
	for _, r := range results {
		if r.Outcome == Waiting && r.Message != "" {
			parts = append(parts, fmt.Sprintf("task %s: %s", r.Task, r.Message))
		}
	}
	return limit(strings.Join(parts, "; "))
}

// mergeObjects replaces what is known of an object and keeps the place of those that were recorded before.
func mergeObjects(recorded, reported []v1beta1.ObjectExecutionStatus) []v1beta1.ObjectExecutionStatus {
	out := append([]v1beta1.ObjectExecutionStatus(nil), recorded...)
next:
	for _, r := range reported {
		r.Message = limitTo(r.Message, maxObjectMessage)
		for i, o := range out {
			if o.APIVersion == r.APIVersion && o.Kind == r.Kind && o.Namespace == r.Namespace && o.Name == r.Name {
				out[i] = mergeObject(o, r)
				continue next
			}
		}
		out = append(out, r)
	}
	return out
}

// mergeObject keeps which tasks apply an object and, until it is deleted, which one it was.
func mergeObject(recorded, reported v1beta1.ObjectExecutionStatus) v1beta1.ObjectExecutionStatus {
	if recorded.Deleted || reported.Deleted {
		return reported
	}
	reported.UID = cmp.Or(reported.UID, recorded.UID)
	reported.Tasks = slices.Concat(recorded.Tasks, reported.Tasks)
	slices.Sort(reported.Tasks)
	reported.Tasks = slices.Compact(reported.Tasks)
	return reported
}

const (
	// maxMessage keeps a message well below the 32 KiB that the API allows in a condition.
	maxMessage = 4096
	// maxObjectMessage is less, because a run can have thousands of objects and its status has to stay storable.
	maxObjectMessage = 1024
)

func limit(s string) string { return limitTo(s, maxMessage) }

func limitTo(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return strings.ToValidUTF8(s[:size], "") + "…"
}
