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

// Selectable says by what objects of a kind can be selected, besides name and namespace.
type Selectable struct {
	// Fields of the object, by name. Nil stands for none.
	Fields func(runtime.Object) fields.Set
	// Indexed fields have an index in the watch cache: a list that selects one value of them costs as much as there are objects
	// with that value, however many others are stored. That holds for consistent lists and for the first chunk of one with a
	// limit; the chunks after it read the whole cache, and nothing of it from etcd.
	Indexed []string
	// IndexedLabels are labels of metadata with such an index.
	IndexedLabels []string
}

// Complete fills in what all stores have in common and connects the store. selectable may be nil.
func Complete(s *genericregistry.Store, options generic.RESTOptionsGetter, selectable *Selectable) error {
	attrs := func(obj runtime.Object) (labels.Set, fields.Set, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return nil, nil, fmt.Errorf("%T has no metadata: %w", obj, err)
		}
		set := generic.ObjectMetaFieldsSet(&metav1.ObjectMeta{Name: object.GetName(), Namespace: object.GetNamespace()}, true)
		if selectable != nil && selectable.Fields != nil {
			maps.Copy(set, selectable.Fields(obj))
		}
		return object.GetLabels(), set, nil
	}
	s.DeleteCollectionWorkers = deleteCollectionWorkers
	storeOptions := &generic.StoreOptions{RESTOptions: options, AttrFunc: attrs}
	var indexed, indexedLabels []string
	if selectable != nil {
		indexed, indexedLabels = selectable.Indexed, selectable.IndexedLabels
		storeOptions.Indexers = selectable.indexers()
	}
	s.PredicateFunc = func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
		return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attrs, IndexFields: indexed, IndexLabels: indexedLabels}
	}
	if err := s.CompleteWithOptions(storeOptions); err != nil {
		return err
	}
	s.Storage.Storage = restored{sized{s.Storage.Storage}}
	return nil
}

// indexers are the indexes of the watch cache, or nil if there are none.
func (s *Selectable) indexers() *cache.Indexers {
	indexers := cache.Indexers{}
	for _, name := range s.Indexed {
		indexers[storage.FieldIndex(name)] = func(obj any) ([]string, error) {
			object, ok := obj.(runtime.Object)
			if !ok {
				return nil, fmt.Errorf("%T is not an API object", obj)
			}
			return []string{s.Fields(object)[name]}, nil
		}
	}
	for _, name := range s.IndexedLabels {
		indexers[storage.LabelIndex(name)] = func(obj any) ([]string, error) {
			object, err := meta.Accessor(obj)
			if err != nil {
				return nil, fmt.Errorf("%T has no metadata: %w", obj, err)
			}
			return []string{object.GetLabels()[name]}, nil
		}
	}
	if len(indexers) == 0 {
		return nil
	}
	return &indexers
}
