// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/random/history"
)

// view is what the observers see now, by which clients choose what to do, and all that they have seen, which is checked in the end.
type view struct {
	mu        sync.Mutex
	instances map[types.NamespacedName]*v1beta1.Instance
	runs      map[types.UID]*v1beta1.PlanExecution
	// of are the runs of an Instance that are there, by its name.
	of map[types.NamespacedName][]types.UID
	// changed is closed and replaced when something changes.
	changed chan struct{}

	instanceEvents []history.Event[*v1beta1.Instance]
	runEvents      []history.Event[*v1beta1.PlanExecution]
}

func newView() *view {
	return &view{instances: map[types.NamespacedName]*v1beta1.Instance{}, runs: map[types.UID]*v1beta1.PlanExecution{},
		of: map[types.NamespacedName][]types.UID{}, changed: make(chan struct{})}
}

func instanceOf(pe *v1beta1.PlanExecution) types.NamespacedName {
	return types.NamespacedName{Namespace: pe.Namespace, Name: pe.Spec.InstanceName}
}

func (v *view) notify() {
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *view) instanceEvent(e history.Event[*v1beta1.Instance]) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.instanceEvents = append(v.instanceEvents, e)
	if e.Type == history.Listed {
		clear(v.instances)
	}
	for _, i := range e.Objects {
		i.ManagedFields = nil
		for plan, status := range i.Status.PlanStatus { // the runs have it
			status.Phases = nil
			i.Status.PlanStatus[plan] = status
		}
		if key := (types.NamespacedName{Namespace: i.Namespace, Name: i.Name}); e.Type == history.Gone {
			delete(v.instances, key)
		} else {
			v.instances[key] = i
		}
	}
	v.notify()
}

func (v *view) runEvent(e history.Event[*v1beta1.PlanExecution]) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.runEvents = append(v.runEvents, e)
	if e.Type == history.Listed {
		clear(v.runs)
		clear(v.of)
	}
	for _, pe := range e.Objects {
		pe.ManagedFields = nil
		key := instanceOf(pe)
		_, known := v.runs[pe.UID]
		switch {
		case e.Type == history.Gone:
			delete(v.runs, pe.UID)
			v.of[key] = slices.DeleteFunc(v.of[key], func(uid types.UID) bool { return uid == pe.UID })
		case known:
			v.runs[pe.UID] = pe
		default:
			v.runs[pe.UID] = pe
			v.of[key] = append(v.of[key], pe.UID)
		}
	}
	v.notify()
}

// instance is an Instance and the run that holds it; nil where there is none.
func (v *view) instance(key types.NamespacedName) (*v1beta1.Instance, *v1beta1.PlanExecution) {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := v.instances[key]
	if i == nil {
		return nil, nil
	}
	return i, v.runs[i.Spec.PlanExecution.UID]
}

// runsOf are the runs of an Instance, and of those before it that had its name, the oldest first.
func (v *view) runsOf(key types.NamespacedName) []*v1beta1.PlanExecution {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*v1beta1.PlanExecution
	for _, uid := range v.of[key] {
		out = append(out, v.runs[uid])
	}
	return out
}

// source lists and watches all objects of a kind.
type source[T metav1.Object] struct {
	list  func(context.Context, metav1.ListOptions) (items []T, version string, err error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	tell  func(history.Event[T])
}

// outage is the pause before a list or a watch that failed is tried again.
const outage = 20 * time.Millisecond

// observe tells all that happens until ctx ends. After an outage of the server it begins again with a list.
func (s source[T]) observe(ctx context.Context) {
	for ctx.Err() == nil {
		version, err := s.look(ctx)
		if err == nil {
			var w watch.Interface
			if w, err = s.watch(ctx, metav1.ListOptions{ResourceVersion: version}); err == nil {
				s.follow(w)
				w.Stop()
			}
			s.tell(history.Event[T]{Type: history.Broken, At: time.Now()})
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(outage):
			}
		}
	}
}

// look tells of all objects there are.
func (s source[T]) look(ctx context.Context) (string, error) {
	items, version, err := s.list(ctx, metav1.ListOptions{})
	if err == nil {
		s.tell(history.Event[T]{Type: history.Listed, At: time.Now(), Version: history.Version(version), Objects: items})
	}
	return version, err
}

func (s source[T]) follow(w watch.Interface) {
	for e := range w.ResultChan() {
		obj, ok := any(e.Object).(T)
		if !ok {
			return // the server says why the watch ends
		}
		event := history.Event[T]{Type: history.Seen, At: time.Now(), Version: history.Version(obj.GetResourceVersion()), Objects: []T{obj}}
		if e.Type == watch.Deleted {
			event.Type = history.Gone
		}
		s.tell(event)
	}
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
