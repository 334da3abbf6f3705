// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import (
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo"
)

// Held tells whether a run owns the Instance.
func Held(i *kudo.Instance) bool { return i.Spec.PlanExecution.UID != "" }

// HeldBy tells whether the run with this uid owns the Instance.
func HeldBy(i *kudo.Instance, uid types.UID) bool {
	return uid != "" && i.Spec.PlanExecution.UID == uid
}

// Take gives the lock to the run and resets the status of its plan to PENDING. The run must have a uid and a name.
// If another run holds the lock, or the Instance is being deleted and the plan is not its cleanup, nothing changes and the error is a
// conflict that says what stands in the way, who started it, and what to do.
func Take(i *kudo.Instance, run *kudo.PlanExecution, now time.Time) error {
	if Held(i) {
		return apierrors.NewConflict(kudo.Resource("instances"), i.Name, heldError(i, run.Spec.PlanName))
	}
	if i.DeletionTimestamp != nil && run.Spec.PlanName != kudo.CleanupPlanName {
		return apierrors.NewConflict(kudo.Resource("instances"), i.Name,
			fmt.Errorf("the Instance is being deleted since %s: plan %q cannot be started", i.DeletionTimestamp.UTC().Format(time.RFC3339), run.Spec.PlanName))
	}
	give(i, run, now)
	return nil
}

// SupersedesAnnotation names, on a run that took the lock over, the PlanExecution from which it did. The server writes it.
const SupersedesAnnotation = "kudo.dev/supersedes"

// TakeOver gives the lock to the run, whoever holds it: the plan of the run that held it, if any, is FATAL_ERROR from now on, with the
// message, and the run names it. The PlanExecution of that run is ended before that of the new one is created.
func TakeOver(i *kudo.Instance, run *kudo.PlanExecution, message string, now time.Time) {
	if held := i.Spec.PlanExecution.Template; Held(i) && held != nil {
		if run.Annotations == nil {
			run.Annotations = map[string]string{}
		}
		run.Annotations[SupersedesAnnotation] = held.Name
	}
	Abort(i, i.Spec.PlanExecution.UID, message, now)
	give(i, run, now)
}

func give(i *kudo.Instance, run *kudo.PlanExecution, now time.Time) {
	i.Spec.PlanExecution = kudo.InstancePlanExecution{
		PlanName: run.Spec.PlanName,
		UID:      run.UID,
		Status:   kudo.ExecutionPending,
		Template: &kudo.PlanExecutionTemplate{
			Name:        run.Name,
			Labels:      maps.Clone(run.Labels),
			Annotations: maps.Clone(run.Annotations),
			Spec:        *run.Spec.DeepCopy(),
		},
	}
	if i.Status.PlanStatus == nil {
		i.Status.PlanStatus = map[string]kudo.PlanStatus{}
	}
	i.Status.PlanStatus[run.Spec.PlanName] = planStatus(run, now)
	if changesTheInstance(run.Spec.PlanName) {
		setReady(i, metav1.ConditionUnknown, "PlanInProgress", "", now)
	}
}

// heldError says which run holds the lock.
func heldError(i *kudo.Instance, wanted string) error {
	holder, name := Holder(i)
	return fmt.Errorf("plan %q cannot start: %s, and an Instance runs one plan at a time. "+
		"Wait for its end with: kubectl wait -n %s --for=jsonpath='{.status.completionTime}' planexecution/%s --timeout=10m",
		wanted, holder, i.Namespace, name)
}

// Holder says, for messages, which run holds the lock and who started it, and gives the name of its PlanExecution.
func Holder(i *kudo.Instance) (says, name string) {
	held := &i.Spec.PlanExecution
	by := "the server"
	if t := held.Template; t != nil {
		name = t.Name
		if t.Spec.RequestedBy != nil {
			by = fmt.Sprintf("%q", t.Spec.RequestedBy.Username)
		}
	}
	return fmt.Sprintf("plan %q is %s as PlanExecution %q, started by %s", held.PlanName, held.Status, name, by), name
}

// Execution is the PlanExecution of the run that holds the lock, or nil if none does. Its status is that of a run about to begin;
// the tree of phases is filled in by the caller, who knows the OperatorVersion.
func Execution(i *kudo.Instance) *kudo.PlanExecution {
	held := &i.Spec.PlanExecution
	if held.UID == "" || held.Template == nil {
		return nil
	}
	isController, block := true, true
	return &kudo.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{
			Name:        held.Template.Name,
			Namespace:   i.Namespace,
			UID:         held.UID,
			Generation:  1,
			Labels:      maps.Clone(held.Template.Labels),
			Annotations: maps.Clone(held.Template.Annotations),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "kudo.dev/v1beta1", Kind: "Instance", Name: i.Name, UID: i.UID,
				Controller: &isController, BlockOwnerDeletion: &block,
			}},
		},
		Spec:   *held.Template.Spec.DeepCopy(),
		Status: kudo.PlanExecutionStatus{Status: kudo.ExecutionPending},
	}
}
