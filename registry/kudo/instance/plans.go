// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

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

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// PlansREST serves the subresource plans: GET lists the plans of an Instance, POST starts one and answers the PlanExecution.
type PlansREST struct{ instances *REST }

var (
	_ rest.NamedCreater             = &PlansREST{}
	_ rest.GetterWithOptions        = &PlansREST{}
	_ rest.StorageMetadata          = &PlansREST{}
	_ rest.GroupVersionKindProvider = &PlansREST{}
)

// NewPlansREST makes the subresource.
func NewPlansREST(instances *REST) *PlansREST { return &PlansREST{instances} }

// New returns an empty request.
func (*PlansREST) New() runtime.Object { return &kudo.PlanTrigger{} }

// Destroy does nothing: the storages belong to others.
func (*PlansREST) Destroy() {}

// GroupVersionKind is the kind of the request.
func (*PlansREST) GroupVersionKind(gv schema.GroupVersion) schema.GroupVersionKind {
	return gv.WithKind("PlanTrigger")
}

// ProducesMIMETypes are the usual ones.
func (*PlansREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject tells OpenAPI what is answered.
func (*PlansREST) ProducesObject(verb string) any {
	if verb == "POST" {
		return v1beta1.PlanExecution{}
	}
	return v1beta1.InstancePlans{}
}

// NewGetOptions are the options of GET; the rest of the path names a plan.
func (*PlansREST) NewGetOptions() (runtime.Object, bool, string) {
	return &kudo.InstancePlansOptions{}, true, "path"
}

// Create starts a run of the plan that the request names. The run passes the admission of a PlanExecution that is created.
func (r *PlansREST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	trigger, ok := obj.(*kudo.PlanTrigger)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a PlanTrigger: %T", obj))
	}
	if trigger.PlanName == "" {
		return nil, apierrors.NewInvalid(kudo.Kind("PlanTrigger"), name, field.ErrorList{field.Required(field.NewPath("planName"), "name the plan to run")})
	}
	if validate != nil {
		if err := validate(ctx, trigger.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	// Whoever may not run the plan does not learn whether the Instance exists.
	if err := r.instances.runs.Authorize(ctx, name, trigger.PlanName); err != nil {
		return nil, err
	}
	i, err := r.instances.recent(ctx, name)
	if err != nil {
		return nil, err
	}
	namespace := genericapirequest.NamespaceValue(ctx)
	run := &kudo.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{
			Name: trigger.Name, GenerateName: trigger.GenerateName, Namespace: namespace,
			Labels: trigger.Labels, Annotations: trigger.Annotations,
		},
		Spec: kudo.PlanExecutionSpec{InstanceName: name, PlanName: trigger.PlanName, Parameters: trigger.Parameters},
	}
	if run.Name == "" && run.GenerateName == "" {
		run.GenerateName = name + "-" + trigger.PlanName + "-"
	}
	return r.instances.runs.CreateAdmitted(ctx, run, i, options)
}

// recent is the Instance from the watch cache, which may be a moment behind and costs no call to the storage; what is decided by it
// is checked again when the run is written. An Instance that the cache does not have yet is read from the storage.
func (r *REST) recent(ctx context.Context, name string) (*kudo.Instance, error) {
	obj, err := r.Get(ctx, name, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		obj, err = r.Get(ctx, name, &metav1.GetOptions{})
	}
	if err != nil {
		return nil, err
	}
	return obj.(*kudo.Instance), nil
}
