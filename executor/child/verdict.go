// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package child

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Verdict says how a child stands.
type Verdict struct {
	// Ready means that nothing more has to be waited for.
	Ready bool
	// Failed means that its plan has ended with an error.
	Failed bool
	// Message says what is waited for, or why it failed; of one that is ready, what is wrong with its objects all the same.
	Message string
}

// Busy says what is waited for while a plan of the child runs or the child is being deleted; "" if neither is the case.
func Busy(child *v1beta1.Instance) string {
	if child.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	lock := &child.Spec.PlanExecution
	if lock.UID == "" && lock.PlanName == "" {
		return ""
	}
	run := ""
	if lock.Template != nil && lock.Template.Name != "" {
		run = " (run " + lock.Template.Name + ")"
	}
	return fmt.Sprintf("its plan %s%s is under way", lock.PlanName, run)
}

// Judge says how a child stands that is not busy. What counts is the plan that its last change started; a backup that failed says
// nothing. If that plan has been run again since, the last run of it counts. runs are those of the child that are kept.
//
// The condition Ready is not waited for: a plan completes when what it applied is healthy, and what broke since, or before in a child in
// which nothing had to be changed, no plan is going to mend.
func Judge(child *v1beta1.Instance, runs []v1beta1.PlanExecution) Verdict {
	plan := changePlan(child, runs)
	status, ok := child.Status.PlanStatus[plan]
	switch {
	case plan == "" || !ok:
		// Its OperatorVersion has no plan for what was changed.
	case status.Status == v1beta1.ExecutionFatalError:
		return Verdict{Failed: true, Message: fmt.Sprintf("run %s of its plan %s failed: %s. Mend the cause and run that plan again (kubectl kudo plan trigger --name %s --instance %s -n %s), then this one",
			runName(runs, status.UID), plan, cmp.Or(status.Message, "no message"), plan, child.Name, child.Namespace)}
	case status.Status != v1beta1.ExecutionComplete:
		return Verdict{Message: fmt.Sprintf("its plan %s is %s", plan, status.Status)}
	}
	if c := meta.FindStatusCondition(child.Status.Conditions, v1beta1.ReadyConditionType); c != nil && c.Status == metav1.ConditionFalse {
		return Verdict{Ready: true, Message: fmt.Sprintf("its plan is complete, but it is not ready: %s. This is not waited for; to have it mended: kubectl kudo plan trigger --name %s --instance %s -n %s",
			cmp.Or(c.Message, c.Reason), v1beta1.DeployPlanName, child.Name, child.Namespace)}
	}
	return Verdict{Ready: true}
}

// changePlan is the plan that the last change of the child's spec started; without a record of it, the one of the fixed plans that
// ran last. "" if none ran.
func changePlan(child *v1beta1.Instance, runs []v1beta1.PlanExecution) string {
	var last *v1beta1.PlanExecution
	for i := range runs {
		r := &runs[i]
		switch r.Spec.Trigger {
		case v1beta1.TriggerCreate, v1beta1.TriggerParameterChange, v1beta1.TriggerUpgrade:
		default:
			continue
		}
		if last == nil || order(last, r) < 0 {
			last = r
		}
	}
	if last != nil {
		return last.Spec.PlanName
	}
	plans := []string{v1beta1.DeployPlanName, v1beta1.UpdatePlanName, v1beta1.UpgradePlanName}
	plans = slices.DeleteFunc(plans, func(p string) bool {
		s := child.Status.PlanStatus[p]
		return s.Status == "" || s.Status == v1beta1.ExecutionNeverRun || s.LastUpdatedTimestamp == nil
	})
	if len(plans) == 0 {
		return ""
	}
	return slices.MaxFunc(plans, func(a, b string) int {
		return child.Status.PlanStatus[a].LastUpdatedTimestamp.Compare(child.Status.PlanStatus[b].LastUpdatedTimestamp.Time)
	})
}

// order compares by age. Times have seconds only. Of two runs of one second the one that was superseded is the older; else, because one
// ends before the next begins, the one that was written last is the newer.
func order(a, b *v1beta1.PlanExecution) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	superseded := func(r *v1beta1.PlanExecution) int {
		if c := meta.FindStatusCondition(r.Status.Conditions, v1beta1.FailedConditionType); c != nil && c.Reason == v1beta1.ReasonSuperseded {
			return 0
		}
		return 1
	}
	if c := cmp.Compare(superseded(a), superseded(b)); c != 0 {
		return c
	}
	c, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	if err != nil {
		return 0 // not versions of a real server
	}
	return c
}

func runName(runs []v1beta1.PlanExecution, uid types.UID) string {
	for i := range runs {
		if runs[i].UID == uid {
			return runs[i].Name
		}
	}
	return string(uid)
}
