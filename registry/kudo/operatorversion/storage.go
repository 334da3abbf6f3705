// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package operatorversion

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

// REST serves OperatorVersions.
type REST struct{ *genericregistry.Store }

var (
	_ rest.StandardStorage    = &REST{}
	_ rest.ShortNamesProvider = &REST{}
	_ rest.CategoriesProvider = &REST{}
)

// NewREST makes the storage.
func NewREST(scheme *runtime.Scheme, options generic.RESTOptionsGetter) (*REST, error) {
	s := strategy{store.NewStrategy(scheme)}
	generic := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &kudo.OperatorVersion{} },
		NewListFunc:               func() runtime.Object { return &kudo.OperatorVersionList{} },
		DefaultQualifiedResource:  kudo.Resource("operatorversions"),
		SingularQualifiedResource: kudo.Resource("operatorversion"),
		CreateStrategy:            s, UpdateStrategy: s, DeleteStrategy: s,
		TableConvertor: table,
	}
	if err := store.Complete(generic, options, nil); err != nil {
		return nil, err
	}
	return &REST{generic}, nil
}

// ShortNames of the resource for kubectl.
func (*REST) ShortNames() []string { return []string{"ov"} }

// Categories of the resource for kubectl.
func (*REST) Categories() []string { return []string{"kudo"} }
