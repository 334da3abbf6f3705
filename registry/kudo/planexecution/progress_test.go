// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(seconds int) *metav1.Time {
	return &metav1.Time{Time: noon.Add(time.Duration(seconds) * time.Second)}
}

func runOf(status kudo.PlanExecutionStatus) *kudo.PlanExecution {
	return &kudo.PlanExecution{Spec: kudo.PlanExecutionSpec{PlanName: "deploy"}, Status: status}
}

func TestProgress(t *testing.T) {
	pending := runOf(kudo.PlanExecutionStatus{Status: kudo.ExecutionPending, Phases: []kudo.PhaseExecutionStatus{{
		Name: "main", Status: kudo.ExecutionPending, Steps: []kudo.StepExecutionStatus{{Name: "one", Status: kudo.ExecutionPending}, {Name: "two", Status: kudo.ExecutionPending}}}}})
	waiting := runOf(kudo.PlanExecutionStatus{Status: kudo.ExecutionInProgress, StartTime: at(0), Phases: []kudo.PhaseExecutionStatus{{
		Name: "main", Status: kudo.ExecutionInProgress, StartTime: at(0), Steps: []kudo.StepExecutionStatus{
			{Name: "one", Status: kudo.ExecutionComplete, StartTime: at(0), CompletionTime: at(0)},
			{Name: "two", Status: kudo.ExecutionInProgress, StartTime: at(0), Message: "Deployment web:\n1 of 2 ready"}}}}})
	complete := runOf(kudo.PlanExecutionStatus{Status: kudo.ExecutionComplete, StartTime: at(0), CompletionTime: at(90), Phases: []kudo.PhaseExecutionStatus{{
		Name: "main", Status: kudo.ExecutionComplete, StartTime: at(0), CompletionTime: at(90), Steps: []kudo.StepExecutionStatus{
			{Name: "one", Status: kudo.ExecutionComplete, StartTime: at(0), CompletionTime: at(0)},
			{Name: "two", Status: kudo.ExecutionComplete, StartTime: at(0), CompletionTime: at(90)}}}}})
	failed := runOf(kudo.PlanExecutionStatus{Status: kudo.ExecutionFatalError, Message: "main.two: no", StartTime: at(0), CompletionTime: at(5), Phases: []kudo.PhaseExecutionStatus{{
		Name: "main", Status: kudo.ExecutionFatalError, StartTime: at(0), CompletionTime: at(5), Steps: []kudo.StepExecutionStatus{
			{Name: "one", Status: kudo.ExecutionComplete, StartTime: at(0), CompletionTime: at(0)},
			{Name: "two", Status: kudo.ExecutionFatalError, StartTime: at(0), CompletionTime: at(5), Message: "no"}}}}})
	for _, tc := range []struct {
		name          string
		before, after *kudo.PlanExecution
		want          []string
	}{
		{"nothing has happened", nil, pending, nil},
		{"nothing new", waiting, waiting, nil},
		{"all so far, within one second in the order of the tree", nil, waiting, []string{
			"2026-11-20T12:00:00Z plan deploy began",
			"2026-11-20T12:00:00Z phase main began",
			"2026-11-20T12:00:00Z step main.one began",
			"2026-11-20T12:00:00Z step main.one COMPLETE after 0s",
			"2026-11-20T12:00:00Z step main.two began",
			"2026-11-20T12:02:00Z step main.two IN_PROGRESS: Deployment web: 1 of 2 ready",
		}},
		{"what came since", waiting, complete, []string{
			"2026-11-20T12:01:30Z step main.two COMPLETE after 1m30s",
			"2026-11-20T12:01:30Z phase main COMPLETE after 1m30s",
			"2026-11-20T12:01:30Z plan deploy COMPLETE after 1m30s",
		}},
		{"a failure says why", waiting, failed, []string{
			"2026-11-20T12:00:05Z step main.two FATAL_ERROR after 5s: no",
			"2026-11-20T12:00:05Z phase main FATAL_ERROR after 5s",
			"2026-11-20T12:00:05Z plan deploy FATAL_ERROR after 5s: main.two: no",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, l := range progress(tc.before, tc.after, at(120).Time) {
				got = append(got, l.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
