// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Init gives status the shape of the plan: every phase, step and task of it, in its order, as PENDING unless something
// is recorded. A plan that cannot be run (unknown, two phases or steps of one name, a step that names a task nobody
// defined) ends the run with a message that says so, before any step begins.
func Init(version *v1beta1.OperatorVersionSpec, planName string, status *v1beta1.PlanExecutionStatus, now time.Time) {
	if Terminal(status.Status) {
		return
	}
	if status.Status == "" || status.Status == v1beta1.ExecutionNeverRun {
		status.Status = v1beta1.ExecutionPending
	}
	plan, ok := version.Plans[planName]
	if !ok {
		Fail(status, ReasonInvalidPlan, fmt.Sprintf("plan %q is not in OperatorVersion revision of operator %q %s; it has the plans %s. Trigger one of them, or upgrade to a version that has it",
			planName, version.Operator.Name, version.Version, names(version.Plans)), now)
		return
	}
	status.Strategy = ordering(plan.Strategy)
	status.Phases = shapePhases(plan.Phases, status.Phases)
	if reason, message := check(version, planName, plan); reason != "" {
		Fail(status, reason, message, now)
	}
}

func shapePhases(plan []v1beta1.Phase, recorded []v1beta1.PhaseExecutionStatus) []v1beta1.PhaseExecutionStatus {
	byName := map[string]v1beta1.PhaseExecutionStatus{}
	for _, p := range recorded {
		byName[p.Name] = p
	}
	var out []v1beta1.PhaseExecutionStatus
	seen := map[string]bool{}
	for _, p := range plan {
		if seen[p.Name] {
			continue // the list is keyed by name; check ends the run with a message
		}
		seen[p.Name] = true
		ps := byName[p.Name]
		ps.Name, ps.Strategy, ps.Status = p.Name, ordering(p.Strategy), pending(ps.Status)
		ps.Steps = shapeSteps(p.Steps, ps.Steps)
		out = append(out, ps)
	}
	return out
}

func shapeSteps(plan []v1beta1.Step, recorded []v1beta1.StepExecutionStatus) []v1beta1.StepExecutionStatus {
	byName := map[string]v1beta1.StepExecutionStatus{}
	for _, s := range recorded {
		byName[s.Name] = s
	}
	var out []v1beta1.StepExecutionStatus
	seen := map[string]bool{}
	for _, s := range plan {
		if seen[s.Name] {
			continue
		}
		seen[s.Name] = true
		ss := byName[s.Name]
		ss.Name, ss.Status = s.Name, pending(ss.Status)
		ss.Tasks = shapeTasks(s.Tasks, ss.Tasks)
		out = append(out, ss)
	}
	return out
}

// shapeTasks collapses a task that a step lists twice into its first place: once it is done it is done.
func shapeTasks(plan []string, recorded []v1beta1.TaskExecutionStatus) []v1beta1.TaskExecutionStatus {
	byName := map[string]v1beta1.ExecutionStatus{}
	for _, t := range recorded {
		byName[t.Name] = t.Status
	}
	var out []v1beta1.TaskExecutionStatus
	seen := map[string]bool{}
	for _, t := range plan {
		if !seen[t] {
			seen[t] = true
			out = append(out, v1beta1.TaskExecutionStatus{Name: t, Status: pending(byName[t])})
		}
	}
	return out
}

// ordering makes serial of everything that is not parallel, so that a plan without a strategy runs in its order.
func ordering(o v1beta1.Ordering) v1beta1.Ordering {
	if o == v1beta1.Parallel {
		return o
	}
	return v1beta1.Serial
}

func pending(s v1beta1.ExecutionStatus) v1beta1.ExecutionStatus {
	if s == "" || s == v1beta1.ExecutionNeverRun {
		return v1beta1.ExecutionPending
	}
	return s
}

func names[V any](m map[string]V) string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(m)), ", "), "(none)")
}
