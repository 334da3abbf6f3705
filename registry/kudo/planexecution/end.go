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
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/lock"
)

// Keep makes sure that a run that was accepted has a PlanExecution, so that it is not lost without a trace when another takes its lock
// over. One that has begun had its PlanExecution, and if that is not there any more, somebody deleted it: it must not run again. ctx
// carries the namespace.
func (r *REST) Keep(ctx context.Context, i *kudo.Instance) error {
	if i.Spec.PlanExecution.Status != kudo.ExecutionPending {
		return nil
	}
	return r.Follow(ctx, i)
}

// EndPredecessor ends the run from which the one that holds the lock took it over, if it did. That comes after the write of the lock,
// which decides: a request that is refused ends no run. And it comes before the new run is created, so that there are never two. ctx
// carries the namespace.
func (r *REST) EndPredecessor(ctx context.Context, i *kudo.Instance) error {
	run := lock.Execution(i)
	if run == nil || run.Annotations[lock.SupersedesAnnotation] == "" {
		return nil
	}
	before, err := r.end(ctx, run.Annotations[lock.SupersedesAnnotation], kudo.ReasonSuperseded, instance.Superseded(run), &metav1.UpdateOptions{}, func(pe *kudo.PlanExecution) error {
		if pe.Spec.InstanceName != i.Name || pe.UID == run.UID {
			return apierrors.NewNotFound(kudo.Resource("planexecutions"), pe.Name)
		}
		return nil
	})
	if apierrors.IsNotFound(err) {
		return nil // it was deleted: there is nothing to end
	}
	if err != nil {
		return err
	}
	return r.instances.Inherit(ctx, i.Name, before)
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
			phase.Status, phase.CompletionTime = endOf(phase), &now
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

// endOf is how a phase ends that the end of its run meets: a step may have completed it a moment ago.
func endOf(phase *kudo.PhaseExecutionStatus) kudo.ExecutionStatus {
	for i := range phase.Steps {
		if phase.Steps[i].Status != kudo.ExecutionComplete {
			return kudo.ExecutionFatalError
		}
	}
	return kudo.ExecutionComplete
}

func begun(s kudo.ExecutionStatus) bool {
	return s == kudo.ExecutionInProgress || s == kudo.ErrorStatus
}
