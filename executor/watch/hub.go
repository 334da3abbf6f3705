// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package watch

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// idleAfter is how long an informer that nobody waits on is kept, so that a plan with many steps does not list anew for each.
const idleAfter = 5 * time.Minute

// Key names an object.
type Key struct {
	schema.GroupVersionResource
	Namespace, Name string
}

// Waiter is the step that waits for an object. Run is what is given to the hub's notify.
type Waiter struct{ Run, Step string }

// Hub is where steps say what they wait for.
type Hub struct {
	client dynamic.Interface
	notify func(run string)
	idle   time.Duration

	mu      sync.Mutex
	ctx     context.Context
	stopped bool
	waiters map[Key]map[Waiter]bool
	sources map[schema.GroupVersionResource]*source
	// gone holds the last state of objects that were deleted while somebody waited for them: a Job that is removed as soon
	// as it has finished must not look like one that never ran.
	gone map[Key]*unstructured.Unstructured
	wg   sync.WaitGroup
}

// New makes a hub whose informers run until ctx ends. It calls notify, which must not block, with the run of every waiter
// for an object that was added, changed or deleted.
func New(ctx context.Context, client dynamic.Interface, notify func(run string)) *Hub {
	return &Hub{client: client, notify: notify, idle: idleAfter, ctx: ctx, waiters: map[Key]map[Waiter]bool{},
		sources: map[schema.GroupVersionResource]*source{}, gone: map[Key]*unstructured.Unstructured{}}
}

// Wait blocks until all informers have stopped, which they do when the context of the hub ends.
func (h *Hub) Wait() {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.wg.Wait()
}

// Track notifies w of every change of an object from now on, until Release.
func (h *Hub) Track(w Waiter, key Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiters[key] == nil {
		h.waiters[key] = map[Waiter]bool{}
	}
	h.waiters[key][w] = true
	if h.sources[key.GroupVersionResource] == nil && !h.stopped {
		h.sources[key.GroupVersionResource] = h.start(key.GroupVersionResource)
	}
}

// Release ends what matching waiters wait for. An empty Step matches all steps of the run.
func (h *Hub) Release(w Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, set := range h.waiters {
		for other := range set {
			if other.Run == w.Run && (w.Step == "" || w.Step == other.Step) {
				delete(set, other)
			}
		}
		if len(set) == 0 {
			delete(h.waiters, key)
			delete(h.gone, key)
			h.stopLater(key.GroupVersionResource)
		}
	}
}

// stopLater stops an informer that is still unused after a while. Called with mu held.
func (h *Hub) stopLater(gvr schema.GroupVersionResource) {
	s := h.sources[gvr]
	if s == nil || h.used(gvr) {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(h.idle, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.sources[gvr] == s && !h.used(gvr) {
			delete(h.sources, gvr)
			s.cancel()
		}
	})
}

func (h *Hub) used(gvr schema.GroupVersionResource) bool {
	for key := range h.waiters {
		if key.GroupVersionResource == gvr {
			return true
		}
	}
	return false
}

// changed is called for every event of an object; last is its last state if it was deleted.
func (h *Hub) changed(key Key, last *unstructured.Unstructured) {
	h.mu.Lock()
	set := h.waiters[key]
	if last != nil && len(set) > 0 {
		h.gone[key] = last
	}
	var runs []string
	for w := range set {
		runs = append(runs, w.Run)
	}
	h.mu.Unlock()
	for _, r := range runs {
		h.notify(r)
	}
}

// changedAll is called when an informer has its first list, because whoever waits for what is not in it has to know, and
// when it loses its connection.
func (h *Hub) changedAll(gvr schema.GroupVersionResource) {
	h.mu.Lock()
	runs := map[string]bool{}
	for key, set := range h.waiters {
		if key.GroupVersionResource == gvr {
			for w := range set {
				runs[w.Run] = true
			}
		}
	}
	h.mu.Unlock()
	for r := range runs {
		h.notify(r)
	}
}

// Waiting is how many objects somebody waits for.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.waiters)
}
