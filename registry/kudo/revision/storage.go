// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	"context"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/lru"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

// REST serves OperatorVersionRevisions, all verbs but create: the generic store is not embedded, so that Create is not served.
type REST struct {
	store *genericregistry.Store
	// equal holds each comparison that found no difference.
	equal *lru.Cache
}

var (
	_ rest.Getter               = &REST{}
	_ rest.Lister               = &REST{}
	_ rest.Watcher              = &REST{}
	_ rest.Updater              = &REST{}
	_ rest.Patcher              = &REST{}
	_ rest.GracefulDeleter      = &REST{}
	_ rest.CollectionDeleter    = &REST{}
	_ rest.Scoper               = &REST{}
	_ rest.SingularNameProvider = &REST{}
	_ rest.ShortNamesProvider   = &REST{}
)

// NewREST makes the storage.
func NewREST(scheme *runtime.Scheme, options generic.RESTOptionsGetter) (*REST, error) {
	s := strategy{store.NewStrategy(scheme)}
	generic := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &kudo.OperatorVersionRevision{} },
		NewListFunc:               func() runtime.Object { return &kudo.OperatorVersionRevisionList{} },
		DefaultQualifiedResource:  kudo.Resource("operatorversionrevisions"),
		SingularQualifiedResource: kudo.Resource("operatorversionrevision"),
		CreateStrategy:            s, UpdateStrategy: s, DeleteStrategy: s,
		TableConvertor: table,
	}
	if err := store.Complete(generic, options, &store.Selectable{IndexedLabels: []string{InstanceLabel}}); err != nil {
		return nil, err
	}
	return &REST{store: generic, equal: lru.New(remembered)}, nil
}

// ShortNames of the resource for kubectl.
func (*REST) ShortNames() []string { return []string{"ovr"} }

// New returns an empty revision.
func (r *REST) New() runtime.Object { return r.store.New() }

// NewList returns an empty list.
func (r *REST) NewList() runtime.Object { return r.store.NewList() }

// Destroy closes the storage.
func (r *REST) Destroy() { r.store.Destroy() }

// NamespaceScoped is true.
func (*REST) NamespaceScoped() bool { return true }

// GetSingularName is the singular of the resource.
func (r *REST) GetSingularName() string { return r.store.GetSingularName() }

// Get reads one revision.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// List reads the revisions that match.
func (r *REST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	return r.store.List(ctx, options)
}

// ConvertToTable makes rows for kubectl get.
func (r *REST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, options)
}

// Watch follows the revisions that match.
func (r *REST) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	return r.store.Watch(ctx, options)
}

// Update changes the metadata of a revision; it never creates one, not even for server-side apply.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, info, create, update, false, options)
}

// Delete removes one revision. A run that still needs it fails.
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	return r.store.Delete(ctx, name, validate, options)
}

// DeleteCollection removes the revisions that match.
func (r *REST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, list *metainternalversion.ListOptions) (runtime.Object, error) {
	return r.store.DeleteCollection(ctx, validate, options, list)
}
