// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package watch

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ownerIndex finds objects by the uid of their controlling owner.
const ownerIndex = "owner"

func byOwner(obj any) ([]string, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	if o := metav1.GetControllerOf(u); o != nil {
		return []string{string(o.UID)}, nil
	}
	return nil, nil
}

// Owned returns what an object controls of a resource in a namespace, sorted by name. Somebody must track an Instance there;
// ok is false as long as the informer has no list. What it returns must not be changed.
func (h *Hub) Owned(gvr schema.GroupVersionResource, namespace string, owner types.UID) (out []*unstructured.Unstructured, ok bool) {
	h.mu.Lock()
	s := h.sources[scope{gvr, namespace}]
	h.mu.Unlock()
	if s == nil || !s.informer.HasSynced() {
		return nil, false
	}
	list, err := s.informer.GetIndexer().ByIndex(ownerIndex, string(owner))
	if err != nil {
		return nil, false
	}
	for _, obj := range list {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out, true
}

// stateOnly leaves out of a pod or ReplicaSet what was asked of it: how it stands is in its status.
func stateOnly(obj any) (any, error) {
	reduced, err := strip(obj)
	if u, ok := reduced.(*unstructured.Unstructured); ok && u != obj {
		delete(u.Object, "spec") // strip has made this map
	}
	return reduced, err
}
