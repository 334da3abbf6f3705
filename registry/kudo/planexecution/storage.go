// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/revision"
	"kudo.dev/kudo/registry/kudo/store"
)

// REST serves PlanExecutions.
type REST struct {
	*genericregistry.Store
	// status is the same storage with the strategy of the status.
	status           *genericregistry.Store
	instances        *instance.REST
	operatorVersions rest.Getter
	revisions        *revision.REST
	authorizer       authorizer.UnconditionalAuthorizer
	admission        admission.Interface
	objects          admission.ObjectInterfaces
}

var (
	_ rest.StandardStorage    = &REST{}
	_ rest.ShortNamesProvider = &REST{}
	_ rest.CategoriesProvider = &REST{}
	_ instance.Runs           = &REST{}
)

// NewREST makes the storage of PlanExecutions and of their status. A nil authorizer lets everybody run every plan; tests use it.
func NewREST(scheme *runtime.Scheme, options generic.RESTOptionsGetter, instances *instance.REST, operatorVersions rest.Getter, revisions *revision.REST, authz authorizer.UnconditionalAuthorizer, admit admission.Interface) (*REST, *StatusREST, error) {
	s := strategy{store.NewStrategy(scheme)}
	generic := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &kudo.PlanExecution{} },
		NewListFunc:               func() runtime.Object { return &kudo.PlanExecutionList{} },
		DefaultQualifiedResource:  kudo.Resource("planexecutions"),
		SingularQualifiedResource: kudo.Resource("planexecution"),
		CreateStrategy:            s, UpdateStrategy: s, DeleteStrategy: s, ResetFieldsStrategy: s,
		TableConvertor: table,
	}
	r := &REST{Store: generic, instances: instances, operatorVersions: operatorVersions, revisions: revisions, authorizer: authz,
		admission: admit, objects: admission.NewObjectInterfacesFromScheme(scheme)}
	generic.AfterDelete = r.afterDelete
	selectable := &store.Selectable{Fields: selectableFields, Indexed: []string{v1beta1.InstanceNameField}}
	if err := store.Complete(generic, options, selectable); err != nil {
		return nil, nil, err
	}
	transactions, disconnect, err := store.NewTransactions(options, kudo.Resource("planexecutions"), kudo.Resource("instances"),
		kudo.Resource("operatorversions"), kudo.Resource("operatorversionrevisions"))
	if err != nil {
		return nil, nil, err
	}
	generic.Storage.Storage = transactions.Joined(generic.Storage.Storage, kudo.Resource("planexecutions"))
	destroy := generic.DestroyFunc
	generic.DestroyFunc = func() {
		destroy()
		disconnect()
	}
	status := *generic
	status.UpdateStrategy = statusStrategy{s}
	status.ResetFieldsStrategy = statusStrategy{s}
	r.status = &status
	return r, &StatusREST{store: &status, instances: instances}, nil
}

func selectableFields(obj runtime.Object) fields.Set {
	pe, ok := obj.(*kudo.PlanExecution)
	if !ok {
		return nil
	}
	return fields.Set{
		v1beta1.InstanceNameField:        pe.Spec.InstanceName,
		v1beta1.PlanNameField:            pe.Spec.PlanName,
		v1beta1.StatusField:              string(pe.Status.Status),
		v1beta1.OperatorVersionNameField: pe.Spec.OperatorVersion.Name,
	}
}

// ShortNames of the resource for kubectl.
func (*REST) ShortNames() []string { return []string{"pe"} }

// Categories of the resource for kubectl.
func (*REST) Categories() []string { return []string{"kudo"} }

// Delete deletes a run. One that has ended is recorded in its Instance first: a server that dies between the end of a run and its record
// leaves a lock whose run must be there to tell that it has ended, or it would run again.
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return r.Store.Delete(ctx, name, r.recorded(validate, options), options)
}

// DeleteCollection deletes the runs that match, each as Delete does.
func (r *REST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, list *metainternalversion.ListOptions) (runtime.Object, error) {
	return r.Store.DeleteCollection(ctx, r.recorded(validate, options), options, list)
}

// recorded is the check before a deletion, after which the Instance knows that the run has begun, and how it ended: a run that is gone
// is created from its lock only if it never began.
func (r *REST) recorded(validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) rest.ValidateObjectFunc {
	return func(ctx context.Context, obj runtime.Object) error {
		if validate != nil {
			if err := validate(ctx, obj); err != nil {
				return err
			}
		}
		pe, ok := obj.(*kudo.PlanExecution)
		if !ok || pe.Status.Status == kudo.ExecutionPending || (options != nil && dryrun.IsDryRun(options.DryRun)) {
			return nil
		}
		return r.instances.Record(ctx, pe)
	}
}

// afterDelete releases the Instance of a run that was deleted before its end.
func (r *REST) afterDelete(obj runtime.Object, options *metav1.DeleteOptions) {
	pe, ok := obj.(*kudo.PlanExecution)
	if !ok || pe.Status.Status.IsTerminal() || (options != nil && dryrun.IsDryRun(options.DryRun)) {
		return
	}
	ctx := genericapirequest.WithNamespace(genericapirequest.NewContext(), pe.Namespace)
	if err := r.instances.Abort(ctx, pe, DeletedMessage); err != nil {
		// The keeper releases the lock within seconds.
		klog.Background().Error(err, "The lock of a deleted run is not released yet", "planExecution", klog.KObj(pe), "instance", pe.Spec.InstanceName)
	}
}

// DeletedMessage is why a run ended whose PlanExecution is no more.
const DeletedMessage = "the PlanExecution was deleted before its end"

// namespaced carries the namespace of the request into calls on other stores.
func namespaced(ctx context.Context, namespace string) context.Context {
	return genericapirequest.WithNamespace(ctx, namespace)
}
