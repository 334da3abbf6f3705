// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo"
)

// Abort ends the run that holds the lock without a PlanExecution to record: its plan failed with the message, and what is known of
// its phases stays. It returns whether anything changed; a run that does not hold the lock changes nothing.
func Abort(i *kudo.Instance, uid types.UID, message string, now time.Time) bool {
	if !HeldBy(i, uid) {
		return false
	}
	plan := i.Spec.PlanExecution.PlanName
	status := i.Status.PlanStatus[plan]
	status.Name, status.UID, status.Status, status.Message = plan, uid, kudo.ExecutionFatalError, message
	status.LastUpdatedTimestamp = &metav1.Time{Time: now}
	for p := range status.Phases {
		phase := &status.Phases[p]
		phase.Status = aborted(phase.Status)
		for s := range phase.Steps {
			phase.Steps[s].Status = aborted(phase.Steps[s].Status)
		}
	}
	if i.Status.PlanStatus == nil {
		i.Status.PlanStatus = map[string]kudo.PlanStatus{}
	}
	i.Status.PlanStatus[plan] = status
	i.Spec.PlanExecution = kudo.InstancePlanExecution{}
	setReady(i, metav1.ConditionUnknown, "PlanInFatalError", message, now)
	return true
}

// aborted leaves what had not begun, or has ended, as it is.
func aborted(s kudo.ExecutionStatus) kudo.ExecutionStatus {
	if s == kudo.ExecutionInProgress || s == kudo.ErrorStatus {
		return kudo.ExecutionFatalError
	}
	return s
}
