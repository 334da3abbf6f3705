// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo"
)

// memory is a source with one run, which behaves as a watch cache does.
type memory struct {
	mu      sync.Mutex
	run     *kudo.PlanExecution
	version int
	// events by version; those up to forgotten are not kept.
	events    map[int]watch.Event
	forgotten int
	watchers  map[*watch.FakeWatcher]bool
	// refused is how many more watches and lists fail.
	refused int
}

func newMemory(run *kudo.PlanExecution) *memory {
	m := &memory{run: run, version: 10, events: map[int]watch.Event{}, watchers: map[*watch.FakeWatcher]bool{}}
	run.ResourceVersion = "10"
	return m
}

// set stores another status, as a write through the subresource status does.
func (m *memory) set(status kudo.PlanExecutionStatus) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.run.DeepCopy()
	next.Status = status
	appendLog(m.run, next, noon)
	m.version++
	next.ResourceVersion = strconv.Itoa(m.version)
	m.run = next
	m.tell(watch.Event{Type: watch.Modified, Object: next})
}

func (m *memory) remove() {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := m.run.DeepCopy()
	m.version++
	gone.ResourceVersion = strconv.Itoa(m.version)
	m.run = nil
	m.tell(watch.Event{Type: watch.Deleted, Object: gone})
}

// replace creates another run of the same name.
func (m *memory) replace() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	m.run = newRun()
	m.run.UID, m.run.ResourceVersion = "2", strconv.Itoa(m.version)
	m.tell(watch.Event{Type: watch.Added, Object: m.run})
}

func (m *memory) tell(event watch.Event) {
	m.events[m.version] = event
	for w := range m.watchers {
		w.Action(event.Type, event.Object)
	}
}

// others lets the version grow as writes of other objects do.
func (m *memory) others(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version += n
}

// breakOff ends all watches; what happened until now is not kept.
func (m *memory) breakOff() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgotten = m.version
	for w := range m.watchers {
		w.Stop()
	}
	clear(m.watchers)
}

// watched is how many watches are open.
func (m *memory) watched() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watchers)
}

func (m *memory) refuse() error {
	if m.refused == 0 {
		return nil
	}
	m.refused--
	return apierrors.NewServiceUnavailable("the storage is away")
}

func (m *memory) List(_ context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuse(); err != nil {
		return nil, err
	}
	list := &kudo.PlanExecutionList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(m.version)}}
	if m.run != nil && options.FieldSelector.String() == "metadata.name="+m.run.Name {
		list.Items = []kudo.PlanExecution{*m.run}
	}
	return list, nil
}

func (m *memory) Watch(_ context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuse(); err != nil {
		return nil, err
	}
	from, err := strconv.Atoi(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := watch.NewFakeWithChanSize(10000, false)
	if from < m.forgotten {
		err := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, m.forgotten))
		w.Error(&err.ErrStatus)
		return w, nil
	}
	for v := from + 1; v <= m.version; v++ {
		if event, ok := m.events[v]; ok {
			w.Action(event.Type, event.Object)
		}
	}
	m.watchers[w] = true
	return w, nil
}
