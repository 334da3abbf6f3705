// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"

	"kudo.dev/kudo/apis/kudo"
)

// Delete marks an Instance as deleted. If its OperatorVersion has a plan "cleanup", the same write gives the Instance to a run of it,
// whoever held it, and the Instance goes when that has completed.
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, err := r.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	i := obj.(*kudo.Instance)
	ov, err := r.CleanupVersion(ctx, i)
	if err != nil {
		return nil, false, err
	}
	switch dry := options != nil && dryrun.IsDryRun(options.DryRun); {
	case dry:
		if ov != nil && i.DeletionTimestamp == nil {
			warning.AddWarning(ctx, "", fmt.Sprintf("plan %q would run", kudo.CleanupPlanName))
		}
		return r.Store.Delete(ctx, name, validate, options)
	case i.DeletionTimestamp != nil:
		if err := r.Clean(ctx, name); err != nil {
			return nil, false, err
		}
	default:
		if err := r.sweepFinalizer(ctx, name, ov != nil); err != nil {
			return nil, false, err
		}
	}
	out, gone, err := r.Store.Delete(context.WithValue(ctx, cleanupKey{}, &cleanup{r, ov}), name, validate, options)
	if apierrors.IsNotFound(err) && i.DeletionTimestamp != nil {
		return i, true, nil // it has gone since it was read, most likely because nothing was left to clean up
	}
	if after, ok := out.(*kudo.Instance); ok && err == nil && i.DeletionTimestamp == nil && after.Spec.PlanExecution.PlanName == kudo.CleanupPlanName {
		r.follow(ctx, after, nil)
	}
	return out, gone, err
}

// DeleteCollection deletes the Instances that match, each as Delete does.
func (r *REST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, list *metainternalversion.ListOptions) (runtime.Object, error) {
	obj, err := r.List(ctx, list)
	if err != nil {
		return nil, err
	}
	instances := obj.(*kudo.InstanceList)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.DeleteCollectionWorkers)
	for i := range instances.Items {
		group.Go(func() error {
			_, _, err := r.Delete(ctx, instances.Items[i].Name, validate, options.DeepCopy())
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	return instances, group.Wait()
}

// cleanup is what a deletion needs to start the cleanup in the write that marks the Instance.
type cleanup struct {
	rest *REST
	// version is nil if nothing is to be cleaned up.
	version *kudo.OperatorVersion
}

type cleanupKey struct{}

// cleaning is a storage that starts the cleanup of an Instance in the write that marks it as deleted. The generic store offers no hook
// between its own checks and that write.
type cleaning struct{ storage.Interface }

// GuaranteedUpdate changes an object.
func (s cleaning) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object) error {
	if c, ok := ctx.Value(cleanupKey{}).(*cleanup); ok {
		inner := update
		update = func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
			wasDeleted := input.(*kudo.Instance).DeletionTimestamp != nil
			out, ttl, err := inner(input, meta)
			if err != nil {
				return out, ttl, err
			}
			return out, ttl, c.start(ctx, out, wasDeleted)
		}
	}
	return s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, cached)
}

// start gives the Instance that is about to be marked as deleted to the run of its cleanup. A second deletion, which may ask for
// another propagation, leaves a cleanup that runs alone.
func (c *cleanup) start(ctx context.Context, obj runtime.Object, wasDeleted bool) error {
	i, ok := obj.(*kudo.Instance)
	if !ok || i.DeletionTimestamp == nil {
		return nil
	}
	if slices.Contains(i.Finalizers, metav1.FinalizerOrphanDependents) { // what it owns is to stay, and so is what it cannot own
		i.Finalizers = slices.DeleteFunc(slices.Clone(i.Finalizers), func(f string) bool { return f == kudo.InventoryFinalizer })
	}
	if i.Spec.PlanExecution.PlanName == kudo.CleanupPlanName {
		keepDependents(i)
	}
	if wasDeleted || c.version == nil || !cleanupDue(i) {
		return nil
	}
	return c.rest.takeOverForCleanup(ctx, i, c.version)
}
