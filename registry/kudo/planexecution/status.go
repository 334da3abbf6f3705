// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/klog/v2"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/lock"
)

// StatusREST serves the subresource status, by which the executor reports.
type StatusREST struct {
	store     *genericregistry.Store
	instances *instance.REST
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.Storage             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
	_ rest.TableConvertor      = &StatusREST{}
)

// New returns an empty PlanExecution.
func (*StatusREST) New() runtime.Object { return &kudo.PlanExecution{} }

// Destroy does nothing: the storage belongs to REST.
func (*StatusREST) Destroy() {}

// Get reads a PlanExecution.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update changes the status of a run, copies it into the Instance, and releases the lock if the run has ended. It never creates a
// PlanExecution, not even for server-side apply.
func (r *StatusREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	out, _, err := r.store.Update(ctx, name, rest.WrapUpdatedObjectInfo(info, r.fence), create, update, false, options)
	if err != nil || dryrun.IsDryRun(options.DryRun) {
		return out, false, err
	}
	pe := out.(*kudo.PlanExecution)
	ctx, cancel := instance.Aftermath(ctx)
	defer cancel()
	if err := r.instances.Record(ctx, pe); err != nil {
		// What was reported is stored; the keeper copies it within seconds.
		klog.FromContext(ctx).Error(err, "The status of the run is not copied to its Instance yet", "planExecution", klog.KObj(pe), "instance", pe.Spec.InstanceName)
	}
	return out, false, nil
}

// fence refuses reports of a run that has ended or does not hold the lock. The end of a run whose Instance is gone, or was made anew,
// is taken: nobody holds anything by it.
func (r *StatusREST) fence(ctx context.Context, obj, old runtime.Object) (runtime.Object, error) {
	after, before := obj.(*kudo.PlanExecution), old.(*kudo.PlanExecution)
	after.Status.Log = before.Status.Log // whatever was sent; the strategy adds what is new
	if apiequality.Semantic.DeepEqual(after.Status, before.Status) {
		return obj, nil
	}
	if before.Status.Status.IsTerminal() {
		return nil, apierrors.NewConflict(kudo.Resource("planexecutions"), before.Name,
			fmt.Errorf("the run has ended with %s; its status is history", before.Status.Status))
	}
	holder, err := r.instances.Get(ctx, before.Spec.InstanceName, &metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	// The uid alone decides: a deletion that orphans takes the owner from the run of the cleanup.
	if err == nil && lock.HeldBy(holder.(*kudo.Instance), before.UID) {
		return obj, nil
	}
	orphan := apierrors.IsNotFound(err) || !metav1.IsControlledBy(before, holder.(*kudo.Instance))
	if orphan && after.Status.Status.IsTerminal() {
		return obj, nil
	}
	return nil, apierrors.NewConflict(kudo.Resource("planexecutions"), before.Name,
		fmt.Errorf("the run does not hold the lock of Instance %q", before.Spec.InstanceName))
}

// GetResetFields are the fields that a write of the status cannot own.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable makes rows for kubectl get --subresource=status.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, options)
}
