// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/revision"
	"kudo.dev/kudo/registry/kudo/store"
)

// Runs makes what follows from the lock of an Instance.
type Runs interface {
	// Follow ends the run from which the one that holds the lock took it over, if it did, and creates the PlanExecution of the latter
	// unless it exists. ctx carries the namespace.
	Follow(ctx context.Context, instance *kudo.Instance) error
	// Authorize tells whether the user of ctx may run the plan; the error says which permission is missing.
	Authorize(ctx context.Context, instance, plan string) error
	// Refusals tells for each of the plans why the user of ctx may not run it; it is empty for one that they may. Unlike Authorize it
	// is a question only: it leaves no trace in audit log and metrics.
	Refusals(ctx context.Context, instance string, plans []string) []string
	// Names are the PlanExecutions with these uids, as far as they are kept. ctx carries the namespace.
	Names(ctx context.Context, instance string, uids sets.Set[types.UID]) (map[types.UID]string, error)
	// CreateAdmitted creates a PlanExecution as if the user of ctx had, admission included. The caller has asked Authorize. recent is its
	// Instance as the watch cache has it.
	CreateAdmitted(ctx context.Context, run *kudo.PlanExecution, recent *kudo.Instance, options *metav1.CreateOptions) (runtime.Object, error)
	// Admit asks admission about a run as if the user of ctx had created the PlanExecution.
	Admit(ctx context.Context, run *kudo.PlanExecution, dryRun []string) error
	// Keep is Follow for a run that has not begun; one that has is left as it is, even if somebody deleted it.
	Keep(ctx context.Context, instance *kudo.Instance) error
	// AuthorizeVersion tells whether the user of ctx may read an OperatorVersion.
	AuthorizeVersion(ctx context.Context, namespace, name string) error
}

// REST serves Instances.
type REST struct {
	*genericregistry.Store
	operatorVersions rest.Getter
	revisions        *revision.REST
	runs             Runs
	namespaces       corelisters.NamespaceLister
	clock            clock.PassiveClock
}

var (
	_ rest.StandardStorage    = &REST{}
	_ rest.ShortNamesProvider = &REST{}
	_ rest.CategoriesProvider = &REST{}
)

// NewREST makes the storage of Instances and of their status. Without namespaces none of them is taken to be deleted. Bind must be called before they are served.
func NewREST(scheme *runtime.Scheme, options generic.RESTOptionsGetter, operatorVersions rest.Getter, revisions *revision.REST, namespaces corelisters.NamespaceLister) (*REST, *StatusREST, error) {
	s := strategy{store.NewStrategy(scheme)}
	generic := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &kudo.Instance{} },
		NewListFunc:               func() runtime.Object { return &kudo.InstanceList{} },
		DefaultQualifiedResource:  kudo.Resource("instances"),
		SingularQualifiedResource: kudo.Resource("instance"),
		CreateStrategy:            s, UpdateStrategy: s, DeleteStrategy: s, ResetFieldsStrategy: s,
		TableConvertor: table,
	}
	if err := store.Complete(generic, options, &store.Selectable{Fields: selectableFields}); err != nil {
		return nil, nil, err
	}
	generic.Storage.Storage = cleaning{generic.Storage.Storage}
	status := *generic
	status.UpdateStrategy = statusStrategy{s}
	status.ResetFieldsStrategy = statusStrategy{s}
	return &REST{
		Store: generic, operatorVersions: operatorVersions, revisions: revisions, namespaces: namespaces, clock: clock.RealClock{},
	}, &StatusREST{&status}, nil
}

// Bind connects the storage of runs.
func (r *REST) Bind(runs Runs) { r.runs = runs }

func selectableFields(obj runtime.Object) fields.Set {
	i, ok := obj.(*kudo.Instance)
	if !ok {
		return nil
	}
	return fields.Set{
		v1beta1.OperatorVersionNameField: i.Spec.OperatorVersion.Name,
		v1beta1.ActivePlanField:          i.Spec.PlanExecution.PlanName,
	}
}

// ShortNames of the resource for kubectl.
func (*REST) ShortNames() []string { return []string{"inst"} }

// Categories of the resource for kubectl.
func (*REST) Categories() []string { return []string{"kudo"} }

// dryRunOf repeats the dry-run option of one request in another.
func dryRunOf(dryRun []string) *metav1.UpdateOptions { return &metav1.UpdateOptions{DryRun: dryRun} }
