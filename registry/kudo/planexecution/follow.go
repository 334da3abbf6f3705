// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
)

// Follow creates the PlanExecution of the run that holds the lock, with the uid of the lock, unless it exists; before that it ends the
// run from which the lock was taken over. It bypasses admission and strategy: the run was accepted when the lock was taken. ctx carries
// the namespace of the Instance.
func (r *REST) Follow(ctx context.Context, i *kudo.Instance) error {
	pe := lock.Execution(i)
	if pe == nil {
		return nil
	}
	// The Instance may have been read long ago, and a run that has ended and was deleted since must not come back.
	if held, err := r.held(ctx, pe); err != nil || !held {
		return err
	}
	if err := r.EndPredecessor(ctx, i); err != nil {
		return err
	}
	pe.CreationTimestamp = metav1.NewTime(time.Now().UTC())
	// First, so that a revision which an Instance of the same name left behind is not collected under the run.
	if err := r.revisions.Adopt(ctx, pe.Spec.RevisionName, i); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	plan, err := r.plan(ctx, i, pe)
	if apierrors.IsNotFound(err) {
		return r.instances.Abort(ctx, pe, fmt.Sprintf("OperatorVersionRevision %q, which holds the plan, does not exist any more; start the plan again", pe.Spec.RevisionName))
	}
	if err != nil {
		return err
	}
	pe.Status = lock.PendingStatus(plan)
	appendLog(nil, pe, time.Now())
	key, err := r.KeyFunc(ctx, pe.Name)
	if err != nil {
		return err
	}
	stored := &kudo.PlanExecution{}
	err = r.Storage.Create(ctx, key, pe, stored, 0, false)
	if storage.IsExist(err) {
		return r.sameRun(ctx, pe)
	}
	if err != nil {
		return err
	}
	return r.stillHeld(ctx, stored)
}

// stillHeld takes a run back that ended and was deleted between the look at its lock and its creation here. stored is the run as it was
// created: one that has been touched since is the run itself, which may have ended already.
func (r *REST) stillHeld(ctx context.Context, stored *kudo.PlanExecution) error {
	if held, err := r.held(ctx, stored); err != nil || held {
		return err
	}
	_, _, err := r.Store.Delete(ctx, stored.Name, rest.ValidateAllObjectFunc,
		&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &stored.UID, ResourceVersion: &stored.ResourceVersion}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// held tells whether the run holds the lock now.
func (r *REST) held(ctx context.Context, pe *kudo.PlanExecution) (bool, error) {
	holder, err := r.instances.Get(ctx, pe.Spec.InstanceName, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return lock.HeldBy(holder.(*kudo.Instance), pe.UID), nil
}

// plan reads the plan of the run. A revision that was deleted in the meantime is made anew if the OperatorVersion has not changed.
func (r *REST) plan(ctx context.Context, i *kudo.Instance, pe *kudo.PlanExecution) (*kudo.Plan, error) {
	plan, err := r.revisions.Plan(ctx, pe.Spec.RevisionName, pe.Spec.PlanName)
	if !apierrors.IsNotFound(err) {
		return plan, err
	}
	ref := pe.Spec.OperatorVersion
	obj, getErr := r.operatorVersions.Get(namespaced(ctx, ref.Namespace), ref.Name, &metav1.GetOptions{})
	if getErr != nil {
		return nil, getErr
	}
	name, ensureErr := r.revisions.Ensure(ctx, i, obj.(*kudo.OperatorVersion), nil)
	if ensureErr != nil {
		return nil, ensureErr
	}
	if name != pe.Spec.RevisionName {
		return nil, err // the OperatorVersion has changed
	}
	return r.revisions.Plan(ctx, name, pe.Spec.PlanName)
}

// sameRun accepts that the run exists. A foreign object of its name, which somebody created in between, ends the run before it began.
func (r *REST) sameRun(ctx context.Context, pe *kudo.PlanExecution) error {
	obj, err := r.Get(ctx, pe.Name, &metav1.GetOptions{})
	if err != nil {
		return err
	}
	if obj.(*kudo.PlanExecution).UID == pe.UID {
		return nil
	}
	return r.instances.Abort(ctx, pe, fmt.Sprintf("another PlanExecution of the name %q exists; start the plan again", pe.Name))
}
