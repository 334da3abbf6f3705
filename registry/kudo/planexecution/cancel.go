// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/instance"
)

// CancelREST serves the subresource cancel: POST ends a run at once, whether or not the executor is there, and frees its Instance.
type CancelREST struct{ executions *REST }

var (
	_ rest.NamedCreater             = &CancelREST{}
	_ rest.StorageMetadata          = &CancelREST{}
	_ rest.GroupVersionKindProvider = &CancelREST{}
)

// NewCancelREST makes the subresource.
func NewCancelREST(executions *REST) *CancelREST { return &CancelREST{executions} }

// New returns an empty request.
func (*CancelREST) New() runtime.Object { return &kudo.PlanExecutionCancel{} }

// Destroy does nothing: the storage belongs to REST.
func (*CancelREST) Destroy() {}

// GroupVersionKind is the kind of the request.
func (*CancelREST) GroupVersionKind(gv schema.GroupVersion) schema.GroupVersionKind {
	return gv.WithKind("PlanExecutionCancel")
}

// ProducesMIMETypes are the usual ones.
func (*CancelREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject tells OpenAPI what is answered.
func (*CancelREST) ProducesObject(string) any { return v1beta1.PlanExecution{} }

// maxCancelMessage is the longest message of a request, in bytes.
const maxCancelMessage = 1024

// Create ends the run and answers it. A run that has ended is refused with a conflict: its end is history.
func (r *CancelREST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request, ok := obj.(*kudo.PlanExecutionCancel)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a PlanExecutionCancel: %T", obj))
	}
	if len(request.Message) > maxCancelMessage {
		return nil, apierrors.NewInvalid(kudo.Kind("PlanExecutionCancel"), name, field.ErrorList{field.TooLong(field.NewPath("message"), "", maxCancelMessage)})
	}
	if validate != nil {
		if err := validate(ctx, request.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	pe, err := r.executions.end(ctx, name, kudo.ReasonCancelled, cancelledMessage(ctx, request.Message), &metav1.UpdateOptions{DryRun: options.DryRun}, unfinished)
	if err != nil || dryrun.IsDryRun(options.DryRun) {
		return pe, err
	}
	ctx, done := instance.Aftermath(ctx)
	defer done()
	if err := r.executions.instances.Record(ctx, pe); err != nil {
		// The end is stored; the keeper releases the lock within seconds.
		klog.FromContext(ctx).Error(err, "The lock of a cancelled run is not released yet", "planExecution", klog.KObj(pe), "instance", pe.Spec.InstanceName)
	}
	return pe, nil
}

// unfinished refuses a run that has ended.
func unfinished(pe *kudo.PlanExecution) error {
	if !pe.Status.Status.IsTerminal() {
		return nil
	}
	return apierrors.NewConflict(kudo.Resource("planexecutions"), pe.Name,
		fmt.Errorf("the run has ended with %s and cannot be cancelled; it holds nothing", pe.Status.Status))
}

func cancelledMessage(ctx context.Context, why string) string {
	message := "cancelled"
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		message += fmt.Sprintf(" by %q", user.GetName())
	}
	if why != "" {
		message += ": " + why
	}
	return message
}
