// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/store"
)

// Create starts a run: it checks it, and stores it together with the lock on its Instance. Refusals change nothing.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	pe, ok := obj.(*kudo.PlanExecution)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a PlanExecution: %T", obj))
	}
	return r.start(ctx, pe, nil, validate, options)
}

// Update changes the little of a run that can be changed. A PlanExecution that does not exist is created if the request allows
// that (server-side apply).
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	if forceAllowCreate {
		if out, err := store.CreateByApply(ctx, r, name, info, create, options); out != nil || err != nil {
			return out, err == nil, err
		}
	}
	return r.Store.Update(ctx, name, info, create, update, false, options)
}

// prepare checks a new run against its Instance and OperatorVersion and stamps what only the server knows. It returns the Instance and
// the OperatorVersion as it saw them: recent and what the watch cache has, or, if recent is nil, what is stored.
func (r *REST) prepare(ctx context.Context, pe *kudo.PlanExecution, recent *kudo.Instance) (*kudo.Instance, *kudo.OperatorVersion, error) {
	if pe.Namespace == "" {
		pe.Namespace = genericapirequest.NamespaceValue(ctx)
	}
	if errs := validation.ValidatePlanExecutionSpec(&pe.Spec, field.NewPath("spec")); len(errs) > 0 {
		return nil, nil, invalid(pe, errs...)
	}
	// Whoever may not run the plan does not learn whether the Instance exists.
	if err := r.Authorize(ctx, pe.Spec.InstanceName, pe.Spec.PlanName); err != nil {
		return nil, nil, err
	}
	spec := field.NewPath("spec")
	i := recent
	if i == nil {
		obj, err := r.instances.Get(ctx, pe.Spec.InstanceName, &metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil, invalid(pe, field.NotFound(spec.Child("instanceName"), pe.Spec.InstanceName))
		}
		if err != nil {
			return nil, nil, err
		}
		i = obj.(*kudo.Instance)
	}
	ov, err := r.operatorVersion(ctx, i, pe, as(recent != nil))
	if err != nil {
		return nil, nil, err
	}
	if _, ok := ov.Spec.Plans[pe.Spec.PlanName]; !ok {
		return nil, nil, invalid(pe, field.NotSupported(spec.Child("planName"), pe.Spec.PlanName, instance.PlanNames(ov)))
	}
	if pe.Spec.PlanName == kudo.CleanupPlanName && i.DeletionTimestamp == nil {
		return nil, nil, invalid(pe, instance.CleanupByHand(spec.Child("planName")))
	}
	if errs := checkParameters(pe, i, ov); len(errs) > 0 {
		return nil, nil, invalid(pe, errs...)
	}
	instance.Stamp(ctx, pe, kudo.TriggerManual)
	if err := instance.Snapshot(pe, i, ov); err != nil {
		return nil, nil, err
	}
	appendLog(nil, pe, time.Now())
	isController, block := true, true
	pe.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "kudo.dev/v1beta1", Kind: "Instance", Name: i.Name, UID: i.UID, Controller: &isController, BlockOwnerDeletion: &block}}
	return i, ov, nil
}

// as are the options for what the watch cache has, or for what is stored.
func as(cached bool) *metav1.GetOptions {
	if cached {
		return &metav1.GetOptions{ResourceVersion: "0"}
	}
	return &metav1.GetOptions{}
}

// operatorVersion is what the run works with: the OperatorVersion of the Instance, or what is left of it for a cleanup.
func (r *REST) operatorVersion(ctx context.Context, i *kudo.Instance, pe *kudo.PlanExecution, read *metav1.GetOptions) (*kudo.OperatorVersion, error) {
	if i.DeletionTimestamp != nil && pe.Spec.PlanName == kudo.CleanupPlanName {
		if ov, err := r.instances.CleanupVersion(ctx, i); ov != nil || err != nil {
			return ov, err
		}
	}
	ref := i.Spec.OperatorVersion
	if ref.Namespace == "" {
		ref.Namespace = i.Namespace
	}
	obj, err := r.operatorVersions.Get(namespaced(ctx, ref.Namespace), ref.Name, read)
	if apierrors.IsNotFound(err) {
		return nil, invalid(pe, field.Invalid(field.NewPath("spec", "instanceName"), i.Name,
			fmt.Sprintf("its OperatorVersion %q does not exist in namespace %q; create it, or change spec.operatorVersion of the Instance", ref.Name, ref.Namespace)))
	}
	if err != nil {
		return nil, err
	}
	return obj.(*kudo.OperatorVersion), nil
}

// checkParameters checks the parameters for this run only, by themselves and together with those of the Instance.
func checkParameters(pe *kudo.PlanExecution, i *kudo.Instance, ov *kudo.OperatorVersion) field.ErrorList {
	path := field.NewPath("spec", "parameters")
	errs := validation.ValidateParameterNames(ov.Spec.Parameters, pe.Spec.Parameters, path)
	merged := map[string]string{}
	maps.Copy(merged, i.Spec.Parameters)
	maps.Copy(merged, pe.Spec.Parameters)
	errs = append(errs, validation.ValidateParameterValues(ov.Spec.Parameters, merged, path)...)
	for _, p := range ov.Spec.Parameters {
		if value, set := pe.Spec.Parameters[p.Name]; set && p.Immutable != nil && *p.Immutable && value != i.Spec.Parameters[p.Name] {
			errs = append(errs, field.Forbidden(path.Key(p.Name), "the parameter is immutable, for one run too"))
		}
	}
	return errs
}

func invalid(pe *kudo.PlanExecution, errs ...*field.Error) error {
	name := pe.GenerateName // a generated name says nothing to the user
	if name == "" {
		name = pe.Name
	}
	return apierrors.NewInvalid(kudo.Kind("PlanExecution"), name, errs)
}
