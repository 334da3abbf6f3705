// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
)

// Supersede ends the run that holds the lock of the Instance, because another one is about to take it over. The lock itself is left to
// the caller, who writes it next. A run that was accepted but has no PlanExecution yet gets one first, so that it is not lost
// without a trace. ctx carries the namespace.
func (r *REST) Supersede(ctx context.Context, i *kudo.Instance, message string) error {
	held := &i.Spec.PlanExecution
	if held.Template == nil {
		return nil
	}
	stop := func() error {
		_, err := r.end(ctx, held.Template.Name, kudo.ReasonSuperseded, message, &metav1.UpdateOptions{}, func(pe *kudo.PlanExecution) error {
			if pe.UID != held.UID {
				return apierrors.NewNotFound(kudo.Resource("planexecutions"), pe.Name)
			}
			return nil
		})
		return err
	}
	err := stop()
	if apierrors.IsNotFound(err) && held.Status == kudo.ExecutionPending {
		if err = r.Follow(ctx, i); err == nil {
			err = stop()
		}
	}
	if apierrors.IsNotFound(err) {
		return nil // it was deleted: there is nothing to end
	}
	return err
}

// end writes the end of a run that the executor did not bring about. A run that has ended is left as it is. check may refuse.
func (r *REST) end(ctx context.Context, name, reason, message string, options *metav1.UpdateOptions, check func(*kudo.PlanExecution) error) (*kudo.PlanExecution, error) {
	info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		pe := old.(*kudo.PlanExecution)
		if err := check(pe); err != nil || pe.Status.Status.IsTerminal() {
			return pe, err
		}
		return ended(pe, reason, message, time.Now()), nil
	})
	out, _, err := r.status.Update(ctx, name, info, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, options)
	if err != nil {
		return nil, err
	}
	return out.(*kudo.PlanExecution), nil
}

// ended is the run with its end: what had begun failed with it, what had not stays pending.
func ended(before *kudo.PlanExecution, reason, message string, at time.Time) *kudo.PlanExecution {
	pe := before.DeepCopy()
	now := metav1.NewTime(at.UTC().Truncate(time.Second)) // as it is read back
	status := &pe.Status
	status.Status, status.Message, status.CompletionTime = kudo.ExecutionFatalError, message, &now
	for p := range status.Phases {
		phase := &status.Phases[p]
		if begun(phase.Status) {
			phase.Status, phase.CompletionTime = kudo.ExecutionFatalError, &now
		}
		for s := range phase.Steps {
			step := &phase.Steps[s]
			step.NextAttemptTime = nil
			if begun(step.Status) {
				step.Status, step.CompletionTime = kudo.ExecutionFatalError, &now
			}
			for t := range step.Tasks {
				if begun(step.Tasks[t].Status) {
					step.Tasks[t].Status = kudo.ExecutionFatalError
				}
			}
		}
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kudo.FailedConditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: now})
	return pe
}

func begun(s kudo.ExecutionStatus) bool {
	return s == kudo.ExecutionInProgress || s == kudo.ErrorStatus
}
