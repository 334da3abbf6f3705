// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
)

// CleanupVersion is what the cleanup of the Instance works with: its OperatorVersion or, if that is gone, the content that its last
// run kept. It is nil if nothing is to be cleaned up: neither has a plan "cleanup", or the namespace is being deleted, in which
// nothing can be created.
func (r *REST) CleanupVersion(ctx context.Context, i *kudo.Instance) (*kudo.OperatorVersion, error) {
	if r.namespaceGoes(i.Namespace) {
		return nil, nil
	}
	ov, err := r.operatorVersion(ctx, i)
	if apierrors.IsInvalid(err) { // it is gone
		ov, err = r.revisions.Latest(ctx, i)
	}
	if err != nil || ov == nil || !hasCleanup(ov) {
		return nil, err
	}
	return ov, nil
}

func hasCleanup(ov *kudo.OperatorVersion) bool {
	_, ok := ov.Spec.Plans[kudo.CleanupPlanName]
	return ok
}

// namespaceGoes tells whether the namespace is being deleted.
func (r *REST) namespaceGoes(name string) bool {
	if r.namespaces == nil {
		return false
	}
	ns, err := r.namespaces.Get(name)
	return err == nil && (ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating)
}

// holdForCleanup puts the finalizer of the cleanup on the Instance or takes it off, and tells whether that changed anything.
func holdForCleanup(i *kudo.Instance, wanted bool) bool {
	held := slices.Contains(i.Finalizers, kudo.CleanupFinalizer)
	switch {
	case wanted && !held:
		i.Finalizers = append(slices.Clone(i.Finalizers), kudo.CleanupFinalizer)
	case !wanted && held:
		i.Finalizers = slices.DeleteFunc(slices.Clone(i.Finalizers), func(f string) bool { return f == kudo.CleanupFinalizer })
	}
	return wanted != held
}

// CleanupByHand refuses to start the cleanup of an Instance that is not being deleted.
func CleanupByHand(path *field.Path) *field.Error {
	return field.Forbidden(path, fmt.Sprintf("plan %q starts when the Instance is deleted, and only then; delete the Instance", kudo.CleanupPlanName))
}

// cleanupDue tells whether the cleanup of an Instance that is being deleted was never started.
func cleanupDue(i *kudo.Instance) bool {
	if !slices.Contains(i.Finalizers, kudo.CleanupFinalizer) || i.Spec.PlanExecution.PlanName == kudo.CleanupPlanName {
		return false
	}
	last, ran := i.Status.PlanStatus[kudo.CleanupPlanName]
	return !ran || last.UID == "" || last.Status == kudo.ExecutionNeverRun
}

// takeOverForCleanup gives an Instance that is about to be marked as deleted, or is, to the run of its cleanup, whoever holds it.
func (r *REST) takeOverForCleanup(ctx context.Context, i *kudo.Instance, ov *kudo.OperatorVersion) error {
	keepDependents(i)
	run, err := r.newRun(ctx, i, ov, kudo.CleanupPlanName, kudo.TriggerCleanup)
	if err != nil {
		return err
	}
	if _, err := r.revisions.Ensure(ctx, i, ov, nil); err != nil {
		return err
	}
	return r.takeOver(ctx, i, run)
}

// keepDependents makes the deletion of what the Instance owns wait for the Instance: it has to be there while the cleanup runs, and
// so has the run of the cleanup itself.
func keepDependents(i *kudo.Instance) {
	i.Finalizers = slices.DeleteFunc(slices.Clone(i.Finalizers), func(f string) bool { return f == metav1.FinalizerDeleteDependents })
}

// takeOver gives the Instance to the run. One that holds it ends when that is written: see Follow.
func (r *REST) takeOver(ctx context.Context, i *kudo.Instance, run *kudo.PlanExecution) error {
	if lock.Held(i) {
		if err := r.runs.Keep(ctx, i); err != nil {
			return err
		}
	}
	lock.TakeOver(i, run, Superseded(run), r.clock.Now())
	return nil
}

// Superseded is why a run ended that another one took over from.
func Superseded(by *kudo.PlanExecution) string {
	who := "the server"
	if by.Spec.RequestedBy != nil {
		who = fmt.Sprintf("%q", by.Spec.RequestedBy.Username)
	}
	why := map[kudo.TriggerReason]string{
		kudo.TriggerCleanup:         "the Instance was deleted",
		kudo.TriggerParameterChange: "its parameters were changed",
		kudo.TriggerManual:          "the plan was started anew",
	}[by.Spec.Trigger]
	return fmt.Sprintf("superseded by PlanExecution %q, started by %s: %s", by.Name, who, why)
}

// Clean brings an Instance that is being deleted on its way: it starts a cleanup that never started, or takes the finalizer off if
// nothing is to be cleaned up. ctx carries the namespace.
func (r *REST) Clean(ctx context.Context, name string) error {
	i, err := r.Change(ctx, name, nil, func(i *kudo.Instance) (bool, error) {
		if i.DeletionTimestamp == nil || !slices.Contains(i.Finalizers, kudo.CleanupFinalizer) {
			return false, nil
		}
		if i.Spec.PlanExecution.PlanName == kudo.CleanupPlanName && !r.namespaceGoes(i.Namespace) {
			return false, nil // it runs with what it started with, whatever became of the OperatorVersion
		}
		ov, err := r.CleanupVersion(ctx, i)
		switch {
		case err != nil:
			return false, err
		case ov == nil:
			return holdForCleanup(i, false), nil
		case cleanupDue(i):
			return true, r.takeOverForCleanup(ctx, i, ov)
		}
		return false, nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil && i.Spec.PlanExecution.PlanName == kudo.CleanupPlanName {
		return r.runs.Keep(ctx, i)
	}
	return err
}

// sweepFinalizer makes the finalizer of an Instance that is not yet being deleted what its OperatorVersion asks for now: the
// OperatorVersion may have been changed since it was last looked at. It returns the resourceVersion to which this brought the Instance,
// or the one that was seen if the Instance was as it should be, or is not any more as it was seen.
func (r *REST) sweepFinalizer(ctx context.Context, seen *kudo.Instance, wanted bool) (string, error) {
	if !holdForCleanup(seen.DeepCopy(), wanted) {
		return seen.ResourceVersion, nil
	}
	swept := false
	i, err := r.Change(ctx, seen.Name, nil, func(i *kudo.Instance) (bool, error) {
		swept = i.ResourceVersion == seen.ResourceVersion
		return i.DeletionTimestamp == nil && holdForCleanup(i, wanted), nil
	})
	if err != nil || !swept {
		return seen.ResourceVersion, err
	}
	return i.ResourceVersion, nil
}
