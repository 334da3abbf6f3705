// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// mirrorBackoff is how a mirror waits between tries. The pauses of a shared informer, which cannot be set, grow to more than half a
// minute after a few restarts of the server, and for so long every run would stand still.
var mirrorBackoff = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 6, Cap: 2 * time.Second}

// mirror is a local copy of all objects of a kind, which tells of every change. What it had before is nil for an object that is new.
type mirror struct {
	cache.Indexer
	source  cache.ListerWatcher
	kind    runtime.Object
	changed func(old, obj any)
	deleted func(obj any)
	synced  atomic.Bool
}

var _ cache.ReflectorStore = &mirror{}

func newMirror(source cache.ListerWatcher, kind runtime.Object, indexers cache.Indexers, changed func(old, obj any), deleted func(any)) *mirror {
	indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc // the listers use it
	return &mirror{Indexer: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers), source: source, kind: kind, changed: changed, deleted: deleted}
}

// run keeps the copy until ctx ends.
func (m *mirror) run(ctx context.Context) {
	backoff := mirrorBackoff
	cache.NewReflectorWithOptions(m.source, m.kind, m, cache.ReflectorOptions{Backoff: &backoff}).RunWithContext(ctx)
}

// HasSynced says whether the copy has been complete once.
func (m *mirror) HasSynced() bool { return m.synced.Load() }

// Add takes in a new object.
func (m *mirror) Add(obj any) error { return m.Update(obj) }

// Update takes in an object that changed.
func (m *mirror) Update(obj any) error {
	obj = trim(obj)
	old, _, err := m.Get(obj)
	if err != nil {
		return err
	}
	if err := m.Indexer.Update(obj); err != nil {
		return err
	}
	m.changed(old, obj)
	return nil
}

// Delete drops an object.
func (m *mirror) Delete(obj any) error {
	if err := m.Indexer.Delete(obj); err != nil {
		return err
	}
	m.deleted(obj)
	return nil
}

// Replace takes in all objects. Those that are not among them were deleted while nobody watched.
func (m *mirror) Replace(objects []any, version string) error {
	before, olds := m.List(), make([]any, len(objects))
	for i := range objects {
		objects[i] = trim(objects[i])
		old, _, err := m.Get(objects[i])
		if err != nil {
			return err
		}
		olds[i] = old
	}
	if err := m.Indexer.Replace(objects, version); err != nil {
		return err
	}
	for _, obj := range before {
		if _, exists, err := m.Get(obj); err == nil && !exists {
			m.deleted(obj)
		}
	}
	for i, obj := range objects {
		m.changed(olds[i], obj)
	}
	m.synced.Store(true)
	return nil
}

// Resync does nothing: the copy is complete.
func (*mirror) Resync() error { return nil }
