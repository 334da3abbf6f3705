// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Plain is the object of an event of a store's watch. The watch cache wraps an object that several watchers share, so that it is
// encoded once; whoever watches a store from inside the server must look into the wrapping.
func Plain(obj runtime.Object) runtime.Object {
	if shared, ok := obj.(runtime.CacheableObject); ok {
		return shared.GetObject()
	}
	return obj
}

// PlainWatch delivers plain objects. Unlike watch.Filter it leaves no goroutine behind when it is stopped while an event is on
// its way.
func PlainWatch(source watch.Interface) watch.Interface {
	events := make(chan watch.Event)
	plain := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer source.Stop()
		for {
			select {
			case <-plain.StopChan():
				return
			case event, ok := <-source.ResultChan():
				if !ok {
					return
				}
				event.Object = Plain(event.Object)
				select {
				case events <- event:
				case <-plain.StopChan():
					return
				}
			}
		}
	}()
	return plain
}
