// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import "kudo.dev/kudo/apis/kudo"

// PendingStatus is the status of a run of the plan that has not begun: its whole tree, all of it PENDING.
func PendingStatus(plan *kudo.Plan) kudo.PlanExecutionStatus {
	status := kudo.PlanExecutionStatus{Status: kudo.ExecutionPending, Strategy: plan.Strategy}
	for _, phase := range plan.Phases {
		p := kudo.PhaseExecutionStatus{Name: phase.Name, Strategy: phase.Strategy, Status: kudo.ExecutionPending}
		for _, step := range phase.Steps {
			p.Steps = append(p.Steps, kudo.StepExecutionStatus{Name: step.Name, Status: kudo.ExecutionPending})
		}
		status.Phases = append(status.Phases, p)
	}
	return status
}
