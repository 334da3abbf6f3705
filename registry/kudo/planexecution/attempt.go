// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/lock"
)

// lockAttempt is the lock on an Instance for a run that is about to be stored.
type lockAttempt struct {
	rest *REST
	// seen is the Instance by which the run was checked.
	seen   *kudo.Instance
	dryRun []string
	// taken is the run that has the lock; nil if it has not, or in a dry run.
	taken *kudo.PlanExecution
	// at is when it was about to be taken.
	at time.Time
	// before is the Instance as it was when the lock was taken.
	before *kudo.Instance
}

// take locks the Instance, unless it changed since the run was checked.
func (a *lockAttempt) take(ctx context.Context, pe *kudo.PlanExecution) error {
	a.at = time.Now()
	_, err := a.rest.instances.Change(ctx, a.seen.Name, a.dryRun, func(i *kudo.Instance) (bool, error) {
		if i.UID != a.seen.UID || !apiequality.Semantic.DeepEqual(i.Spec.Parameters, a.seen.Spec.Parameters) || i.Spec.OperatorVersion != a.seen.Spec.OperatorVersion {
			return false, apierrors.NewConflict(kudo.Resource("instances"), i.Name, fmt.Errorf("the Instance was changed while plan %q was being started; try again", pe.Spec.PlanName))
		}
		a.before = i.DeepCopy()
		return true, lock.Take(i, pe, time.Now())
	})
	if err == nil && len(a.dryRun) == 0 {
		a.taken = pe
	}
	return err
}

// settle decides what a failure to store the run means, which may have come after the run was stored. Only a definite refusal gives
// the lock back. In doubt the run is accepted: the lock stays, and the keeper creates the run.
func (a *lockAttempt) settle(ctx context.Context, failure error) (runtime.Object, error) {
	ctx, cancel := instance.Aftermath(ctx)
	defer cancel()
	stored, err := a.rest.Get(ctx, a.taken.Name, &metav1.GetOptions{})
	if err == nil && stored.(*kudo.PlanExecution).UID == a.taken.UID {
		return stored, nil
	}
	if apierrors.IsAlreadyExists(failure) || apierrors.IsRequestEntityTooLargeError(failure) {
		if err := a.giveBack(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "The lock of a run that was refused is not released yet", "instance", a.seen.Name)
		}
	}
	return nil, failure
}

// giveBack makes the Instance what it was before the lock was taken.
func (a *lockAttempt) giveBack(ctx context.Context) error {
	_, err := a.rest.instances.Change(ctx, a.seen.Name, nil, func(i *kudo.Instance) (bool, error) {
		if !lock.HeldBy(i, a.taken.UID) {
			return false, nil
		}
		i.Spec.PlanExecution = kudo.InstancePlanExecution{}
		i.Status = a.before.Status
		return true, nil
	})
	return err
}
