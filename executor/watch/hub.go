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

// Key names an object, or, with Instance and without Name, all objects of that resource and namespace that carry the label of
// the Instance.
type Key struct {
	schema.GroupVersionResource
	Namespace, Name string
	Instance        string
}

// scope is what one informer sees.
type scope struct {
	schema.GroupVersionResource
	// Namespace is empty for all of them.
	Namespace string
}

// scope of single objects is the whole cluster, because plans apply few and often in many namespaces; that of all objects of
// an Instance is its namespace, because there are many pods and few namespaces in which something is amiss.
func (k Key) scope() scope {
	if k.Instance != "" {
		return scope{k.GroupVersionResource, k.Namespace}
	}
	return scope{GroupVersionResource: k.GroupVersionResource}
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
	// held is waiters by run, and users how many keys of waiters each source serves: nothing here searches all waiters.
	held    map[string]map[Key]map[Waiter]bool
	users   map[scope]map[Key]bool
	sources map[scope]*source
	// gone holds the last state of objects that were deleted while somebody waited for them: a Job that is removed as soon
	// as it has finished must not look like one that never ran.
	gone map[Key]*unstructured.Unstructured
	wg   sync.WaitGroup
}

// New makes a hub whose informers run until ctx ends. It calls notify, which must not block, with the run of every waiter
// for an object that was added, changed or deleted.
func New(ctx context.Context, client dynamic.Interface, notify func(run string)) *Hub {
	return &Hub{client: client, notify: notify, idle: idleAfter, ctx: ctx, waiters: map[Key]map[Waiter]bool{}, held: map[string]map[Key]map[Waiter]bool{},
		users: map[scope]map[Key]bool{}, sources: map[scope]*source{}, gone: map[Key]*unstructured.Unstructured{}}
}

// Wait blocks until all informers have stopped, which they do when the context of the hub ends.
func (h *Hub) Wait() {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.wg.Wait()
}

// Track notifies w of every change of what key names from now on, until Release.
func (h *Hub) Track(w Waiter, key Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := key.scope()
	if h.waiters[key] == nil {
		h.waiters[key] = map[Waiter]bool{}
	}
	if h.held[w.Run] == nil {
		h.held[w.Run] = map[Key]map[Waiter]bool{}
	}
	if h.held[w.Run][key] == nil {
		h.held[w.Run][key] = map[Waiter]bool{}
	}
	if h.users[at] == nil {
		h.users[at] = map[Key]bool{}
	}
	h.waiters[key][w], h.held[w.Run][key][w], h.users[at][key] = true, true, true
	if h.sources[at] == nil && !h.stopped {
		h.sources[at] = h.start(at)
	}
}

// Release ends what matching waiters wait for. An empty Step matches all steps of the run.
func (h *Hub) Release(w Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, set := range h.held[w.Run] {
		for other := range set {
			if w.Step == "" || w.Step == other.Step {
				delete(set, other)
				delete(h.waiters[key], other)
			}
		}
		if len(set) == 0 {
			delete(h.held[w.Run], key)
		}
		if len(h.waiters[key]) > 0 {
			continue
		}
		at := key.scope()
		delete(h.waiters, key)
		delete(h.gone, key)
		if delete(h.users[at], key); len(h.users[at]) == 0 {
			delete(h.users, at)
			h.stopLater(at)
		}
	}
	if len(h.held[w.Run]) == 0 {
		delete(h.held, w.Run)
	}
}

// stopLater stops an informer that is still unused after a while. Called with mu held.
func (h *Hub) stopLater(at scope) {
	s := h.sources[at]
	if s == nil {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(h.idle, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.sources[at] == s && len(h.users[at]) == 0 {
			delete(h.sources, at)
			s.cancel()
		}
	})
}

// changed is called for every event of an object; last is its last state if it was deleted.
func (h *Hub) changed(key Key, last *unstructured.Unstructured) {
	h.mu.Lock()
	set := h.waiters[key]
	if last != nil && len(set) > 0 && key.Instance == "" {
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
func (h *Hub) changedAll(at scope) {
	h.mu.Lock()
	runs := map[string]bool{}
	for key := range h.users[at] {
		for w := range h.waiters[key] {
			runs[w.Run] = true
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
