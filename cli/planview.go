// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// notActive is shown for plans other than the one that runs or ran last.
const notActive = "NOT ACTIVE"

// planView is a plan as the tree shows it, whether it comes from a PlanExecution, from the status of the Instance or
// from the OperatorVersion.
type planView struct {
	name, strategy, status, message string
	updated                         *metav1.Time
	phases                          []phaseView
}

type phaseView struct {
	name, strategy, status, message string
	steps                           []stepView
}

type stepView struct {
	name, status, message string
	took                  time.Duration
}

// viewOfRun shows a run. What it does not tell yet is taken from the plan.
func viewOfRun(run *v1beta1.PlanExecution, plan v1beta1.Plan) planView {
	status := cmp.Or(string(run.Status.Status), string(v1beta1.ExecutionPending))
	view := viewOfPlan(run.Spec.PlanName, plan, status)
	view.strategy = cmp.Or(string(run.Status.Strategy), view.strategy)
	view.message = run.Status.Message
	view.updated = lastChange(run)
	if len(run.Status.Phases) == 0 {
		return view
	}
	view.phases = nil
	for _, phase := range run.Status.Phases {
		shown := phaseView{
			name: phase.Name, status: string(phase.Status), message: phase.Message,
			strategy: cmp.Or(string(phase.Strategy), phaseStrategy(plan, phase.Name)),
		}
		for _, step := range phase.Steps {
			shown.steps = append(shown.steps, stepView{name: step.Name, status: string(step.Status), message: stepMessage(&step), took: took(&step)})
		}
		view.phases = append(view.phases, shown)
	}
	return view
}

// viewOfStatus shows what the status of an Instance says of the last run of a plan.
func viewOfStatus(status v1beta1.PlanStatus, plan v1beta1.Plan) planView {
	view := viewOfPlan(status.Name, plan, string(status.Status))
	view.message, view.updated, view.phases = status.Message, status.LastUpdatedTimestamp, nil
	for _, phase := range status.Phases {
		shown := phaseView{name: phase.Name, status: string(phase.Status), message: phase.Message, strategy: phaseStrategy(plan, phase.Name)}
		for _, step := range phase.Steps {
			shown.steps = append(shown.steps, stepView{name: step.Name, status: string(step.Status), message: step.Message})
		}
		view.phases = append(view.phases, shown)
	}
	return view
}

// viewOfPlan shows a plan that has no run, with one status for all of it.
func viewOfPlan(name string, plan v1beta1.Plan, status string) planView {
	view := planView{name: name, strategy: cmp.Or(string(plan.Strategy), string(v1beta1.Serial)), status: status}
	for _, phase := range plan.Phases {
		shown := phaseView{name: phase.Name, strategy: cmp.Or(string(phase.Strategy), string(v1beta1.Serial)), status: status}
		for _, step := range phase.Steps {
			shown.steps = append(shown.steps, stepView{name: step.Name, status: status})
		}
		view.phases = append(view.phases, shown)
	}
	return view
}

func phaseStrategy(plan v1beta1.Plan, name string) string {
	for _, phase := range plan.Phases {
		if phase.Name == name && phase.Strategy != "" {
			return string(phase.Strategy)
		}
	}
	return string(v1beta1.Serial)
}

// lastChange is when the run last got further, as far as its status tells.
func lastChange(run *v1beta1.PlanExecution) *metav1.Time {
	latest := run.Status.StartTime
	later := func(t *metav1.Time) {
		if t != nil && (latest == nil || latest.Before(t)) {
			latest = t
		}
	}
	later(run.Status.CompletionTime)
	for _, phase := range run.Status.Phases {
		for _, step := range phase.Steps {
			later(step.StartTime)
			later(step.CompletionTime)
		}
	}
	return latest
}

// stepMessage is what a step waits for, or why it failed.
func stepMessage(step *v1beta1.StepExecutionStatus) string {
	message := step.Message
	if message == "" && step.Status.IsRunning() {
		var waits []string
		for _, object := range step.Objects {
			if !object.Ready {
				waits = append(waits, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", object.Kind, object.Name, object.Message), ": "))
			}
		}
		if len(waits) > 0 {
			message = "waits for " + strings.Join(waits, ", ")
		}
	}
	if step.Status == v1beta1.ErrorStatus && step.NextAttemptTime != nil {
		message = strings.TrimPrefix(fmt.Sprintf("%s, attempt %d, next at %s", message, step.Attempts, step.NextAttemptTime.UTC().Format(time.TimeOnly)), ", ")
	}
	return message
}

// took is how long a step that has ended well took; 0 if that is not known or less than a second.
func took(step *v1beta1.StepExecutionStatus) time.Duration {
	if step.Status != v1beta1.ExecutionComplete || step.StartTime == nil || step.CompletionTime == nil {
		return 0
	}
	return max(0, step.CompletionTime.Sub(step.StartTime.Time).Round(time.Second))
}
