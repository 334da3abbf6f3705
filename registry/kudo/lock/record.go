// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import (
	"fmt"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
)

// Record copies how the run stands, and which objects it applied and deleted, into the Instance and, if the run has ended, releases the
// lock. It returns whether anything changed. A run that does not hold the lock changes nothing.
func Record(i *kudo.Instance, run *kudo.PlanExecution, now time.Time) bool {
	if !HeldBy(i, run.UID) {
		return false
	}
	before := i.Status.PlanStatus[run.Spec.PlanName]
	after := planStatus(run, now)
	// The time alone is no change: nothing is written because time passed.
	after.LastUpdatedTimestamp = before.LastUpdatedTimestamp
	changed := !apiequality.Semantic.DeepEqual(before, after)
	if changed {
		after.LastUpdatedTimestamp = &metav1.Time{Time: now}
		if i.Status.PlanStatus == nil {
			i.Status.PlanStatus = map[string]kudo.PlanStatus{}
		}
		i.Status.PlanStatus[run.Spec.PlanName] = after
	}
	changed = recordInventory(i, run) || changed
	if i.Spec.PlanExecution.Status != run.Status.Status {
		i.Spec.PlanExecution.Status = run.Status.Status
		changed = true
	}
	if run.Status.Status.IsTerminal() {
		i.Spec.PlanExecution = kudo.InstancePlanExecution{}
		switch {
		case run.Status.Status != kudo.ExecutionComplete:
			setReady(i, metav1.ConditionUnknown, "PlanInFatalError", run.Status.Message+wayOut(i, run.Spec.PlanName), now)
		case changesTheInstance(run.Spec.PlanName) || !judged(i):
			setReady(i, metav1.ConditionTrue, "ResourcesReady", "", now)
		}
		changed = true
	}
	return changed
}

// judged tells whether it is known how the objects of the Instance are. Then the end of a plan that does not change it, such as a backup,
// says nothing new.
func judged(i *kudo.Instance) bool {
	c := meta.FindStatusCondition(i.Status.Conditions, kudo.ReadyConditionType)
	return c != nil && c.Status != metav1.ConditionUnknown
}

// wayOut says how an Instance goes whose cleanup has failed.
func wayOut(i *kudo.Instance, plan string) string {
	if i.DeletionTimestamp == nil || plan != kudo.CleanupPlanName {
		return ""
	}
	return fmt.Sprintf("; the Instance stays until its cleanup completes: start it again with "+
		"kubectl kudo plan trigger -n %s --instance %s --name %s, or do without it by removing the finalizer %s", i.Namespace, i.Name, plan, kudo.CleanupFinalizer)
}

// planStatus is the entry of the Instance's status for a run, in the shape of KUDO 0.19.
func planStatus(run *kudo.PlanExecution, now time.Time) kudo.PlanStatus {
	s := kudo.PlanStatus{
		Name:                 run.Spec.PlanName,
		Status:               run.Status.Status,
		Message:              run.Status.Message,
		UID:                  run.UID,
		LastUpdatedTimestamp: &metav1.Time{Time: now},
	}
	if s.Status == "" {
		s.Status = kudo.ExecutionPending
	}
	for _, phase := range run.Status.Phases {
		p := kudo.PhaseStatus{Name: phase.Name, Status: phase.Status, Message: phase.Message}
		for _, step := range phase.Steps {
			p.Steps = append(p.Steps, kudo.StepStatus{Name: step.Name, Status: step.Status, Message: step.Message})
		}
		s.Phases = append(s.Phases, p)
	}
	return s
}

// changesTheInstance names the plans during which an Instance is neither ready nor not ready.
func changesTheInstance(plan string) bool {
	return plan == kudo.DeployPlanName || plan == kudo.UpdatePlanName || plan == kudo.UpgradePlanName
}

// maxConditionMessage is the longest message of a condition, in bytes.
const maxConditionMessage = 32768

func setReady(i *kudo.Instance, status metav1.ConditionStatus, reason, message string, now time.Time) {
	if len(message) > maxConditionMessage {
		message = strings.ToValidUTF8(message[:maxConditionMessage], "")
	}
	meta.SetStatusCondition(&i.Status.Conditions, metav1.Condition{
		Type: kudo.ReadyConditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: i.Generation,
		LastTransitionTime: metav1.Time{Time: now},
	})
}
