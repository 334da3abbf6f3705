// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/lock"
)

// CreateAdmitted creates a run that was asked for by another request than the creation of a PlanExecution, as if it had been that:
// policies, webhooks and quotas of PlanExecutions apply. The permission, which the caller has asked for, is asked for again: admission
// may have put another plan into the run. recent is the Instance as the watch cache has it. ctx carries the namespace.
func (r *REST) CreateAdmitted(ctx context.Context, run *kudo.PlanExecution, recent *kudo.Instance, options *metav1.CreateOptions) (runtime.Object, error) {
	ctx = withCounted(asCreation(ctx, run.Namespace), run.Spec.InstanceName, run.Spec.PlanName)
	validate, err := r.mutate(ctx, run, options)
	if err != nil {
		return nil, err
	}
	if run.Spec.InstanceName != recent.Name { // so did admission
		return r.Create(ctx, run, validate, options)
	}
	out, err := r.start(ctx, run, recent, validate, options)
	if apierrors.IsInvalid(err) {
		// What the path names is answered with 404 if it went since, and not as a mistake in a field that the request does not have.
		if _, getErr := r.instances.Get(ctx, recent.Name, &metav1.GetOptions{}); apierrors.IsNotFound(getErr) {
			return nil, getErr
		}
	}
	return out, err
}

// Admit asks admission about a run that is going to be created without a request of its own. The permission was asked for and the run
// stamped before, so admission changes neither the plan nor what only the server writes.
func (r *REST) Admit(ctx context.Context, run *kudo.PlanExecution, dryRun []string) error {
	before := run.DeepCopy()
	ctx = asCreation(ctx, run.Namespace)
	validate, err := r.mutate(ctx, run, &metav1.CreateOptions{DryRun: dryRun})
	if err != nil {
		return err
	}
	if run.Spec.PlanName != before.Spec.PlanName || run.Spec.InstanceName != before.Spec.InstanceName {
		return apierrors.NewForbidden(kudo.Resource("planexecutions"), before.Name, fmt.Errorf(
			"an admission policy or webhook made plan %q of Instance %q of it, which was to be plan %q of Instance %q; a run that is started by a change of its Instance keeps its plan",
			run.Spec.PlanName, run.Spec.InstanceName, before.Spec.PlanName, before.Spec.InstanceName))
	}
	run.Name, run.Namespace, run.UID, run.OwnerReferences, run.Status = before.Name, before.Namespace, before.UID, before.OwnerReferences, before.Status
	keepStamped(&run.Spec, &before.Spec)
	delete(run.Annotations, lock.SupersedesAnnotation)
	if errs := validation.ValidatePlanExecution(run); len(errs) > 0 {
		return invalid(run, errs...)
	}
	return validate(ctx, run.DeepCopyObject())
}

// mutate lets admission change the run, and returns what validates the result.
func (r *REST) mutate(ctx context.Context, run *kudo.PlanExecution, options *metav1.CreateOptions) (rest.ValidateObjectFunc, error) {
	if r.admission == nil {
		return rest.ValidateAllObjectFunc, nil
	}
	user, _ := genericapirequest.UserFrom(ctx)
	attributes := admission.NewAttributesRecord(run, nil,
		v1beta1.SchemeGroupVersion.WithKind("PlanExecution"), run.Namespace, run.Name,
		v1beta1.SchemeGroupVersion.WithResource("planexecutions"), "", admission.Create, options, dryrun.IsDryRun(options.DryRun), user)
	if mutating, ok := r.admission.(admission.MutationInterface); ok && mutating.Handles(admission.Create) {
		if err := mutating.Admit(ctx, attributes, r.objects); err != nil {
			return nil, err
		}
	}
	return rest.AdmissionToValidateObjectFunc(r.admission, attributes, r.objects), nil
}

// asCreation makes errors and metrics of the second write speak of the resource that is written.
func asCreation(ctx context.Context, namespace string) context.Context {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	if !ok {
		return ctx
	}
	second := *info
	second.Resource, second.Subresource, second.Name, second.Namespace = "planexecutions", "", "", namespace
	return genericapirequest.WithRequestInfo(ctx, &second)
}
