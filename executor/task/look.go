// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/watch"
)

// blindRecheck is how often an object is read that cannot be watched.
const blindRecheck = 10 * time.Second

func (i *item) key() watch.Key {
	return watch.Key{GroupVersionResource: i.ref.GroupVersionResource, Namespace: i.ref.Namespace, Name: i.ref.Name}
}

// look returns the object as it stands now, from the informer's copy if that is at least as new as what applying returned.
// It returns nil if nothing newer is known, in which case an event will come, and clears a.answer if the object is gone
// and has to be applied again.
func (a *applied) look(ctx context.Context, env Env) (current *unstructured.Unstructured, recheck time.Duration, err error) {
	v := env.Hub.Look(a.key())
	switch {
	case env.Fresh, v.Err != nil:
		// Nothing may come from the informer: read, and look again by and by while it has no connection.
		if v.Err != nil {
			recheck = blindRecheck
		}
	case !v.Synced:
		return nil, 0, nil
	case v.Object != nil && v.Object.GetUID() == a.answer.GetUID():
		if !watch.AtLeast(v.Object.GetResourceVersion(), a.answer.GetResourceVersion()) {
			return nil, 0, nil
		}
		a.seen = true
		return v.Object, 0, nil
	case v.Object == nil && v.Gone != nil && v.Gone.GetUID() == a.answer.GetUID():
		if end := ended(v.Gone, env); end != nil {
			return end, 0, nil
		}
		// It was deleted before it was ready: read, to be sure that nobody made it again.
	case !a.seen && !watch.AtLeast(v.Version, a.answer.GetResourceVersion()):
		return nil, 0, nil // the informer is behind
	}
	live, err := env.Client.Get(ctx, a.ref)
	if err != nil {
		return nil, 0, err
	}
	if live == nil || live.GetUID() != a.answer.GetUID() {
		a.answer = nil
		return nil, recheck, nil
	}
	return live, recheck, nil
}

// ended returns the last state of a deleted object if it was at its end by then, well or not: a Job that is removed as
// soon as it has finished has run.
func ended(last *unstructured.Unstructured, env Env) *unstructured.Unstructured {
	last = last.DeepCopy()
	last.SetDeletionTimestamp(nil)
	if last.GetKind() != "Job" && last.GetKind() != "Pod" {
		return nil
	}
	if r := health.Check(last, env.Lookup); r.Ready || r.Failed {
		return last
	}
	return nil
}
