// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package watch

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// View is what the hub knows of an object.
type View struct {
	// Synced says that the informer has its first list. Nothing else counts before.
	Synced bool
	// Err is why the informer has no connection, nil if it has one.
	Err error
	// Object is the informer's copy, nil if it has none. It must not be changed.
	Object *unstructured.Unstructured
	// Gone is the last state of the object if it was deleted while somebody waited for it.
	Gone *unstructured.Unstructured
	// Version is the newest resourceVersion of any object that the informer has seen.
	Version string
}

// Look says what the hub knows of an object that somebody tracks.
func (h *Hub) Look(key Key) View {
	h.mu.Lock()
	s, gone := h.sources[key.scope()], h.gone[key]
	h.mu.Unlock()
	if s == nil {
		return View{}
	}
	v := View{Synced: s.informer.HasSynced(), Err: s.failing(), Gone: gone, Version: s.informer.LastSyncResourceVersion()}
	id := key.Name
	if key.Namespace != "" {
		id = key.Namespace + "/" + key.Name
	}
	if obj, ok, err := s.informer.GetStore().GetByKey(id); err == nil && ok {
		v.Object, _ = obj.(*unstructured.Unstructured)
	}
	return v
}

// AtLeast says whether resourceVersion a is as new as b or newer. Versions that cannot be compared count as new, so that
// a server with versions of its own making does not make a step wait for ever.
func AtLeast(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || c >= 0
}
