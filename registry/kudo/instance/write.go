// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
	"kudo.dev/kudo/registry/kudo/store"
)

// Create stores a new Instance that is locked by its first run, of the plan deploy.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	i, ok := obj.(*kudo.Instance)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not an Instance: %T", obj))
	}
	ov, err := r.decideCreate(ctx, i)
	if err != nil {
		return nil, err
	}
	out, err := r.Store.Create(ctx, i, r.keeping(validate, ov, options.DryRun), options)
	if err != nil {
		return nil, err
	}
	r.follow(ctx, out.(*kudo.Instance), options.DryRun)
	return out, nil
}

// keeping stores the content of the OperatorVersion when all checks of a new Instance have passed, so that refusals leave nothing.
func (r *REST) keeping(validate rest.ValidateObjectFunc, ov *kudo.OperatorVersion, dryRun []string) rest.ValidateObjectFunc {
	return func(ctx context.Context, obj runtime.Object) error {
		if validate != nil {
			if err := validate(ctx, obj); err != nil {
				return err
			}
		}
		// The uid of the Instance does not count before it is stored: the owner is added by whoever creates the run.
		i := obj.(*kudo.Instance).DeepCopy()
		if i.ResourceVersion != "" {
			return apierrors.NewBadRequest("metadata.resourceVersion must not be set on an object to be created")
		}
		if _, err := r.Get(ctx, i.Name, &metav1.GetOptions{}); err == nil {
			return apierrors.NewAlreadyExists(kudo.Resource("instances"), i.Name)
		}
		i.UID = ""
		_, err := r.revisions.Ensure(ctx, i, ov, dryRun)
		return err
	}
}

// Update changes an Instance. Users cannot write the lock and the status here; a change of the parameters or of the
// OperatorVersion starts a plan. An Instance that does not exist is created if the request allows that (server-side apply).
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	if forceAllowCreate {
		if out, err := store.CreateByApply(ctx, r, name, info, create, options); out != nil || err != nil {
			return out, err == nil, err
		}
	}
	var d *decision
	guarded := rest.WrapUpdatedObjectInfo(info, func(ctx context.Context, obj, old runtime.Object) (runtime.Object, error) {
		var err error
		d, err = r.decideUpdate(ctx, obj.(*kudo.Instance), old.(*kudo.Instance), options.DryRun)
		return obj, err
	})
	committing := func(ctx context.Context, obj, old runtime.Object) error {
		if update != nil {
			if err := update(ctx, obj, old); err != nil {
				return err
			}
		}
		return r.commit(ctx, d, obj.(*kudo.Instance), old.(*kudo.Instance), options.DryRun)
	}
	out, created, err := r.Store.Update(ctx, name, guarded, create, committing, false, options)
	if err != nil {
		return nil, false, err
	}
	if i, ok := out.(*kudo.Instance); ok && d.run != nil {
		r.follow(ctx, i, options.DryRun)
	}
	return out, created, nil
}

// follow creates the run that holds the lock. A failure does not fail the request, which is accepted with the lock: the
// keeper creates the run within seconds.
func (r *REST) follow(ctx context.Context, i *kudo.Instance, dryRun []string) {
	held := &i.Spec.PlanExecution
	if held.Template == nil {
		return
	}
	if dryrun.IsDryRun(dryRun) {
		warning.AddWarning(ctx, "", fmt.Sprintf("plan %q would run", held.PlanName))
		return
	}
	warning.AddWarning(ctx, "", fmt.Sprintf("plan %q runs as planexecution/%s", held.PlanName, held.Template.Name))
	ctx, cancel := Aftermath(ctx)
	defer cancel()
	if err := r.runs.Follow(ctx, i); err != nil {
		klog.FromContext(ctx).Error(err, "The run is accepted but its PlanExecution is not created yet; it will be within seconds",
			"instance", klog.KObj(i), "planExecution", held.Template.Name)
	}
}

// Change lets the server itself write lock and status, in one guaranteed update. change reports whether it changed anything; it
// may run more than once. ctx carries the namespace.
func (r *REST) Change(ctx context.Context, name string, dryRun []string, change func(*kudo.Instance) (bool, error)) (*kudo.Instance, error) {
	info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		i := old.(*kudo.Instance).DeepCopy()
		changed, err := change(i)
		if err != nil {
			return nil, err
		}
		if !changed {
			return old, nil
		}
		return i, nil
	})
	out, _, err := r.Store.Update(ctx, name, info, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, dryRunOf(dryRun))
	if err != nil {
		return nil, err
	}
	return out.(*kudo.Instance), nil
}

// aftermath bounds what follows a write that was accepted, when the client that sent it may have gone.
const aftermath = 10 * time.Second

// Aftermath is a context for what must follow a write that was accepted, whether or not the client still waits.
func Aftermath(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), aftermath)
}

// Abort releases the lock of a run that has no PlanExecution any more.
func (r *REST) Abort(ctx context.Context, run *kudo.PlanExecution, message string) error {
	ctx = genericapirequest.WithNamespace(ctx, run.Namespace)
	_, err := r.Change(ctx, run.Spec.InstanceName, nil, func(i *kudo.Instance) (bool, error) {
		return lock.Abort(i, run.UID, message, r.clock.Now()), nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Inherit lists the objects that a run, from which another one took the Instance over, announced last. ctx carries the namespace.
func (r *REST) Inherit(ctx context.Context, name string, run *kudo.PlanExecution) error {
	_, err := r.Change(ctx, name, nil, func(i *kudo.Instance) (bool, error) {
		return lock.Inherit(i, run), nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Record copies how a run stands into its Instance, and releases the lock if the run has ended.
func (r *REST) Record(ctx context.Context, run *kudo.PlanExecution) error {
	ctx = genericapirequest.WithNamespace(ctx, run.Namespace)
	_, err := r.Change(ctx, run.Spec.InstanceName, nil, func(i *kudo.Instance) (bool, error) {
		changed := lock.Record(i, run, r.clock.Now())
		if changed && i.DeletionTimestamp != nil && run.Spec.PlanName == kudo.CleanupPlanName && run.Status.Status == kudo.ExecutionComplete {
			holdForCleanup(i, false)
		}
		return changed, nil
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
