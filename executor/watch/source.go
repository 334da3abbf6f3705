// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package watch

import (
	"context"
	"maps"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/executor/apply"
)

// source is the informer of one resource.
type source struct {
	informer cache.SharedIndexInformer
	cancel   context.CancelFunc
	timer    *time.Timer
	failure  atomic.Pointer[failure]
}

// failure is the last error of an informer. Nothing tells when its connection is back, but its pauses grow to no more than
// a minute, so that an error older than failureAge, in which it has tried more than once, is over.
type failure struct {
	err error
	at  time.Time
}

const failureAge = 3 * time.Minute

func (s *source) failing() error {
	if f := s.failure.Load(); f != nil && time.Since(f.at) < failureAge {
		return f.err
	}
	return nil
}

// start makes and runs an informer. Called with mu held.
func (h *Hub) start(at scope) *source {
	gvr := at.GroupVersionResource
	ctx, cancel := context.WithCancel(h.ctx)
	tweak := func(o *metav1.ListOptions) { o.LabelSelector = apply.LabelHeritage + "=" + apply.HeritageValue }
	s := &source{informer: dynamicinformer.NewFilteredDynamicInformer(h.client, gvr, at.Namespace, 0, cache.Indexers{ownerIndex: byOwner}, tweak).Informer(), cancel: cancel}
	logger := klog.FromContext(ctx).WithValues("resource", gvr.String(), "namespace", at.Namespace)
	reduce := strip
	if at.Namespace != "" {
		reduce = stateOnly
	}
	// The setters fail only on an informer that runs.
	_ = s.informer.SetTransform(reduce)
	_ = s.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		first := s.failing() == nil
		s.failure.Store(&failure{err: err, at: time.Now()})
		if first { // once per outage
			logger.Info("Cannot watch; trying again until it works", "err", err)
			h.changedAll(at) // whoever waits for an event has to look by himself until it works
		}
	})
	_, err := s.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { s.failure.Store(nil); h.event(at, obj, false) },
		UpdateFunc: func(old, obj any) {
			s.failure.Store(nil)
			if a, ok := old.(*unstructured.Unstructured); ok {
				if b, ok := obj.(*unstructured.Unstructured); ok && a.GetResourceVersion() != "" && a.GetResourceVersion() == b.GetResourceVersion() {
					return
				}
			}
			h.event(at, obj, false)
		},
		DeleteFunc: func(obj any) { h.event(at, obj, true) },
	})
	if err != nil {
		logger.Error(err, "Cannot follow events")
	}
	h.wg.Add(2)
	go func() {
		defer h.wg.Done()
		s.informer.RunWithContext(ctx)
	}()
	go func() {
		defer h.wg.Done()
		if cache.WaitForCacheSync(ctx.Done(), s.informer.HasSynced) {
			s.failure.Store(nil)
			h.changedAll(at)
		}
	}()
	return s
}

func (h *Hub) event(at scope, obj any, deleted bool) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = t.Obj
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	key := Key{GroupVersionResource: at.GroupVersionResource, Namespace: u.GetNamespace(), Name: u.GetName()}
	if at.Namespace != "" {
		key.Name, key.Instance = "", u.GetLabels()[apply.LabelInstance]
	}
	if deleted {
		h.changed(key, u)
	} else {
		h.changed(key, nil)
	}
}

// strip leaves out what no rule of health reads and what is often the larger part of an object. It copies what it changes
// and nothing else: the object may not be ours to change.
func strip(obj any) (any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	metadata, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return obj, nil
	}
	metadata = maps.Clone(metadata)
	delete(metadata, "managedFields")
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		delete(annotations, apply.AnnotationLastApplied)
		metadata["annotations"] = annotations
	}
	out := maps.Clone(u.Object)
	for _, content := range []string{"data", "binaryData", "stringData"} { // of ConfigMaps and Secrets
		delete(out, content)
	}
	out["metadata"] = metadata
	return &unstructured.Unstructured{Object: out}, nil
}
