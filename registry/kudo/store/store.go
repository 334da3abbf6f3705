// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/tools/cache"
)

// deleteCollectionWorkers is how many objects of a collection are deleted at a time. A namespace with a long history of runs
// is otherwise slow to go.
const deleteCollectionWorkers = 8

// Selectable gives the values of the fields by which objects of a kind can be selected, besides name and namespace.
type Selectable struct {
	// Fields of the object, by label.
	Fields func(runtime.Object) fields.Set
	// Indexed labels have an index in the watch cache.
	Indexed []string
}

// Complete fills in what all stores have in common and connects the store. selectable may be nil.
func Complete(s *genericregistry.Store, options generic.RESTOptionsGetter, selectable *Selectable) error {
	attrs := func(obj runtime.Object) (labels.Set, fields.Set, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return nil, nil, fmt.Errorf("%T has no metadata: %w", obj, err)
		}
		set := generic.ObjectMetaFieldsSet(&metav1.ObjectMeta{Name: object.GetName(), Namespace: object.GetNamespace()}, true)
		if selectable != nil {
			maps.Copy(set, selectable.Fields(obj))
		}
		return object.GetLabels(), set, nil
	}
	s.DeleteCollectionWorkers = deleteCollectionWorkers
	storeOptions := &generic.StoreOptions{RESTOptions: options, AttrFunc: attrs}
	var indexed []string
	if selectable != nil && len(selectable.Indexed) > 0 {
		indexed = selectable.Indexed
		indexers := cache.Indexers{}
		for _, label := range indexed {
			indexers[storage.FieldIndex(label)] = func(obj any) ([]string, error) {
				object, ok := obj.(runtime.Object)
				if !ok {
					return nil, fmt.Errorf("%T is not an API object", obj)
				}
				return []string{selectable.Fields(object)[label]}, nil
			}
		}
		storeOptions.Indexers = &indexers
	}
	s.PredicateFunc = func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
		return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attrs, IndexFields: indexed}
	}
	if err := s.CompleteWithOptions(storeOptions); err != nil {
		return err
	}
	s.Storage.Storage = restored{sized{s.Storage.Storage}}
	return nil
}
