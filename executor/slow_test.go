// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// slow is a cluster whose first call of one kind takes as long as a test wants. The fakes cannot do that: they carry out one call
// at a time.
type slow struct {
	dynamic.Interface
	// begun is closed when the first apply, or the first get if gets is set, has arrived.
	begun chan struct{}
	// release lets a slow apply go on. It takes effect although the caller may have given up, as with a server that has it already.
	release chan struct{}
	gets    bool
	once    sync.Once

	mu sync.Mutex
	// applied are the names of the objects and the runs that applied them, in the order in which they took effect.
	applied []string
}

func (w *world) slow(gets bool) *slow {
	s := &slow{Interface: w.dynamic, begun: make(chan struct{}), release: make(chan struct{}), gets: gets}
	w.cluster = s
	return s
}

func (s *slow) order() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.applied)
}

func (s *slow) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &slowResource{s.Interface.Resource(r), s}
}

type slowResource struct {
	dynamic.NamespaceableResourceInterface
	slow *slow
}

func (r *slowResource) Namespace(ns string) dynamic.ResourceInterface {
	return &slowObjects{r.NamespaceableResourceInterface.Namespace(ns), r.slow}
}

type slowObjects struct {
	dynamic.ResourceInterface
	slow *slow
}

func (o *slowObjects) Apply(ctx context.Context, name string, obj *unstructured.Unstructured, options metav1.ApplyOptions, sub ...string) (*unstructured.Unstructured, error) {
	if !o.slow.gets {
		o.slow.once.Do(func() { close(o.slow.begun); <-o.slow.release })
	}
	o.slow.mu.Lock()
	o.slow.applied = append(o.slow.applied, name+" "+obj.GetAnnotations()["kudo.dev/last-plan-execution-uid"])
	o.slow.mu.Unlock()
	answer, err := o.ResourceInterface.Apply(context.WithoutCancel(ctx), name, obj, options, sub...)
	if ctx.Err() != nil {
		return nil, ctx.Err() // nobody waits for the answer
	}
	return answer, err
}

func (o *slowObjects) Get(ctx context.Context, name string, options metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	if o.slow.gets {
		first := false
		o.slow.once.Do(func() { first = true; close(o.slow.begun) })
		if first {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	return o.ResourceInterface.Get(ctx, name, options, sub...)
}
