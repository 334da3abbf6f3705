// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/lock"
	"kudo.dev/kudo/registry/kudo/store"
)

// attempts is how often a run is tried to start whose Instance, OperatorVersion or revision others change at the same time.
const attempts = 5

// start starts a run. recent is its Instance as the watch cache has it, by which it is tried first; nil has all read from the storage.
func (r *REST) start(ctx context.Context, run *kudo.PlanExecution, recent *kudo.Instance, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	if run.ResourceVersion != "" {
		return nil, apierrors.NewBadRequest("metadata.resourceVersion must not be set on an object to be created; a run is repeated by a PlanExecution of another name without it")
	}
	if dryrun.IsDryRun(options.DryRun) {
		recent = nil // no write will show that the cache was behind
	}
	named := run.Name != ""
	if !named {
		// Once for all attempts, so that admission sees the same run again.
		run.GenerateName = cmp.Or(run.GenerateName, run.Spec.InstanceName+"-"+run.Spec.PlanName+"-")
		run.Name = r.CreateStrategy.GenerateName(run.GenerateName)
	}
	validate = remembering(validate)
	for n := 1; ; n++ {
		out, err := r.attempt(ctx, run.DeepCopy(), named, recent, validate, options)
		switch {
		case recent != nil && (errors.Is(err, store.ErrChanged) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err)):
			recent = nil // nobody is refused by what is not true any more
		case !errors.Is(err, store.ErrChanged):
			return out, err
		case n >= attempts:
			return nil, apierrors.NewConflict(kudo.Resource("instances"), run.Spec.InstanceName,
				fmt.Errorf("the Instance or its OperatorVersion was changed again and again while plan %q was being started; try again", run.Spec.PlanName))
		}
	}
}

// attempt starts a run once. The run and the lock on its Instance are written together, provided that nothing by which the run was
// checked has changed; else it returns store.ErrChanged.
func (r *REST) attempt(ctx context.Context, pe *kudo.PlanExecution, named bool, recent *kudo.Instance, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	i, ov, err := r.prepare(ctx, pe, recent)
	if err != nil {
		return nil, err
	}
	if named {
		// After the permission: whoever may not run the plan does not learn which runs there are.
		if _, err := r.Get(ctx, pe.Name, &metav1.GetOptions{}); err == nil {
			return nil, apierrors.NewAlreadyExists(kudo.Resource("planexecutions"), pe.Name)
		}
	}
	// Before admission, which charges quotas: a plan that has to wait costs nothing.
	if err := lock.Take(i.DeepCopy(), pe, time.Now()); err != nil {
		return nil, err
	}
	companions := &store.Companions{}
	// The last check, when uid and name are final.
	locking := func(ctx context.Context, obj runtime.Object) error {
		if validate != nil {
			if err := validate(ctx, obj); err != nil {
				return err
			}
		}
		kept, err := r.revisions.Keep(ctx, i, ov, as(recent != nil), options.DryRun)
		if err != nil || dryrun.IsDryRun(options.DryRun) {
			return err
		}
		locked := i.DeepCopy()
		if err := lock.Take(locked, obj.(*kudo.PlanExecution), time.Now()); err != nil {
			return err
		}
		companions.Changed = &store.Ref{Resource: kudo.Resource("instances"), Object: locked}
		companions.Unchanged = []store.Ref{{Resource: kudo.Resource("operatorversionrevisions"), Object: kept}}
		if ov.ResourceVersion != "" { // what is left of one that is gone has none
			companions.Unchanged = append(companions.Unchanged, store.Ref{Resource: kudo.Resource("operatorversions"), Object: ov})
		}
		return nil
	}
	out, err := r.Store.Create(store.WithCompanions(ctx, companions), pe, locking, options)
	if err != nil && companions.Changed != nil && !errors.Is(err, store.ErrChanged) {
		return r.settle(ctx, pe, err)
	}
	return out, err
}

// remembering is a check that gives the same run the answer that it gave before. Admission charges quotas, so a run that is tried again
// must not be shown to it twice.
func remembering(validate rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	if validate == nil {
		return nil
	}
	var seen *kudo.PlanExecution
	var answer error
	return func(ctx context.Context, obj runtime.Object) error {
		pe := obj.(*kudo.PlanExecution)
		if seen == nil || !apiequality.Semantic.DeepEqual(seen.Spec, pe.Spec) ||
			!apiequality.Semantic.DeepEqual(seen.Labels, pe.Labels) || !apiequality.Semantic.DeepEqual(seen.Annotations, pe.Annotations) {
			seen, answer = pe.DeepCopy(), validate(ctx, obj)
		}
		return answer
	}
}

// settle decides what a failure to store the run means, which may have come after the run was stored.
func (r *REST) settle(ctx context.Context, pe *kudo.PlanExecution, failure error) (runtime.Object, error) {
	ctx, cancel := instance.Aftermath(ctx)
	defer cancel()
	if stored, err := r.Get(ctx, pe.Name, &metav1.GetOptions{}); err == nil && stored.(*kudo.PlanExecution).UID == pe.UID {
		return stored, nil
	}
	return nil, failure
}
