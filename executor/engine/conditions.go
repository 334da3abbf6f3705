// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func setCondition(status *v1beta1.PlanExecutionStatus, kind string, value metav1.ConditionStatus, reason, message string, now time.Time) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: kind, Status: value, Reason: reason, Message: message, LastTransitionTime: *stamp(now)})
}

func setComplete(status *v1beta1.PlanExecutionStatus, now time.Time) {
	setCondition(status, v1beta1.CompleteConditionType, metav1.ConditionTrue, "StepsComplete", "all steps of the plan are complete", now)
}

func setFailed(status *v1beta1.PlanExecutionStatus, reason, message string, now time.Time) {
	setCondition(status, v1beta1.FailedConditionType, metav1.ConditionTrue, reason, message, now)
}

// setSuspended leaves a run that was never held without the condition.
func setSuspended(status *v1beta1.PlanExecutionStatus, suspend bool, now time.Time) {
	switch {
	case suspend:
		setCondition(status, v1beta1.SuspendedConditionType, metav1.ConditionTrue, "SuspendRequested", "spec.suspend is set: no step begins until it is cleared", now)
	case meta.FindStatusCondition(status.Conditions, v1beta1.SuspendedConditionType) != nil:
		setCondition(status, v1beta1.SuspendedConditionType, metav1.ConditionFalse, "Resumed", "spec.suspend is not set", now)
	}
}

// summarize writes into an open run and its phases what their first open step waits for, so that a list shows why.
func summarize(status *v1beta1.PlanExecutionStatus, suspend bool) {
	status.Message = ""
	if suspend {
		status.Message = "held by spec.suspend"
	}
	for i := range status.Phases {
		p := &status.Phases[i]
		if Terminal(p.Status) {
			continue
		}
		p.Message = ""
		for _, s := range p.Steps {
			if !begun(s.Status) || s.Message == "" {
				continue
			}
			if p.Message == "" {
				p.Message = limit(s.Name + ": " + s.Message)
			}
			if status.Message == "" {
				status.Message = limit(p.Name + "." + s.Name + ": " + s.Message)
			}
		}
	}
}
