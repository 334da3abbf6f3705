// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"kudo.dev/kudo/apis/kudo"
)

func TestEnded(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC)
	step := func(name string, s kudo.ExecutionStatus) kudo.StepExecutionStatus {
		return kudo.StepExecutionStatus{Name: name, Status: s}
	}
	pe := &kudo.PlanExecution{Status: kudo.PlanExecutionStatus{Status: kudo.ExecutionInProgress, Phases: []kudo.PhaseExecutionStatus{
		{Name: "a", Status: kudo.ExecutionComplete, Steps: []kudo.StepExecutionStatus{step("1", kudo.ExecutionComplete)}},
		{Name: "b", Status: kudo.ExecutionInProgress, Steps: []kudo.StepExecutionStatus{step("2", kudo.ErrorStatus), step("3", kudo.ExecutionInProgress), step("4", kudo.ExecutionPending)}},
		{Name: "c", Status: kudo.ExecutionPending, Steps: []kudo.StepExecutionStatus{step("5", kudo.ExecutionPending)}},
	}}}
	before := pe.DeepCopy()
	got := ended(pe, kudo.ReasonCancelled, "why", at)
	if diff := cmp.Diff(before, pe); diff != "" {
		t.Errorf("the state before was changed: %s", diff)
	}
	var tree []kudo.ExecutionStatus
	for _, p := range got.Status.Phases {
		tree = append(tree, p.Status)
		for _, s := range p.Steps {
			tree = append(tree, s.Status)
			if (s.CompletionTime != nil) != (s.Status == kudo.ExecutionFatalError) {
				t.Errorf("step %s has completion time %v", s.Name, s.CompletionTime)
			}
		}
	}
	const done, failed, waits = kudo.ExecutionComplete, kudo.ExecutionFatalError, kudo.ExecutionPending
	if diff := cmp.Diff([]kudo.ExecutionStatus{done, done, failed, failed, failed, waits, waits, waits}, tree); diff != "" {
		t.Error(diff)
	}
	c := meta.FindStatusCondition(got.Status.Conditions, kudo.FailedConditionType)
	if got.Status.Status != failed || got.Status.Message != "why" || got.Status.CompletionTime == nil || c == nil || c.Reason != kudo.ReasonCancelled || c.Message != "why" {
		t.Errorf("the end is %+v with %+v", got.Status, c)
	}
}
