// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/store"
)

// StatusWatcher watches one run through its subresource status. Unlike a watch of the collection it ends by itself, before the front
// door cuts it, and its last event says why.
type StatusWatcher struct {
	source   source
	limit    time.Duration
	shutdown <-chan struct{}
}

var _ rest.Watcher = &StatusWatcher{}

// Watcher makes a watch that ends after the limit, and when shutdown is closed.
func (r *StatusREST) Watcher(limit time.Duration, shutdown <-chan struct{}) rest.Watcher {
	return &StatusWatcher{r.store, limit, shutdown}
}

// Watch sends the states of the run whose name the field selector has. Without a resourceVersion the first is that of now; with one,
// it is the first after that version. The answer is 404 if there is no such run, and 410 if states after the version are not kept.
func (w *StatusWatcher) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	name, _ := options.FieldSelector.RequiresExactMatch("metadata.name")
	run, from, err := newest(ctx, w.source, name)
	if err != nil {
		return nil, err
	}
	s := &statusStream{version: options.ResourceVersion, run: run}
	if s.version == "" || s.version == "0" {
		s.take(watch.Event{Type: watch.Added, Object: run})
	} else if from, err = s.resume(from); err != nil {
		return nil, err
	}
	if s.over == "" {
		if s.source, err = w.source.Watch(ctx, &metainternalversion.ListOptions{FieldSelector: named(name), ResourceVersion: from}); err != nil {
			return nil, s.explained(err)
		}
		if err := s.begun(); err != nil {
			s.source.Stop()
			return nil, err
		}
	}
	s.result = make(chan watch.Event)
	s.proxy = watch.NewProxyWatcher(s.result)
	go s.serve(ctx, w.limit, w.shutdown)
	return s.proxy, nil
}

// resume says from where to watch so that the client misses nothing after its version. now is the version of the storage. As long as
// the run has not changed since, the version may be of any age.
func (s *statusStream) resume(now string) (string, error) {
	changed, err := resourceversion.CompareResourceVersion(s.run.ResourceVersion, s.version)
	if err != nil {
		return "", apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: Invalid value: %q: give that of the last event you have, or leave it out for the state of now", s.version))
	}
	if ahead, err := resourceversion.CompareResourceVersion(s.version, now); err != nil || ahead > 0 {
		return "", apierrors.NewResourceExpired(fmt.Sprintf("resourceVersion %s is not of this storage, which is at %s; leave it out for the state of now, and resume from what that brings", s.version, now))
	}
	if changed > 0 {
		return s.version, nil
	}
	if s.run.Status.Status.IsTerminal() {
		s.over = v1beta1.StreamEndedRunEnded
	}
	return now, nil
}

// begun takes what comes at once. The watch cache tells by an event of a version that is too old; the client gets it as the answer.
func (s *statusStream) begun() error {
	select {
	case event, ok := <-s.source.ResultChan():
		if status, isStatus := event.Object.(*metav1.Status); ok && event.Type == watch.Error && isStatus {
			return s.explained(&apierrors.StatusError{ErrStatus: *status})
		}
		s.receive(event, ok)
	default:
	}
	return nil
}

// explained says what to do about a version that is too old.
func (s *statusStream) explained(err error) error {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return err
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("resourceVersion %s is too old: the run has changed since, and what came right after that version is not kept any more; "+
		"leave resourceVersion out for the state of now, which has all that happened in status.log, and resume from what that brings", s.version))
}

// receive takes an event of the source; ok is false if there are no more.
func (s *statusStream) receive(event watch.Event, ok bool) {
	switch {
	case !ok || event.Type == watch.Error:
		s.over = v1beta1.StreamEndedInterrupted
	case event.Type != watch.Bookmark:
		s.take(event)
	}
}

// take has an event sent, and finds out whether it is the last.
func (s *statusStream) take(event watch.Event) {
	s.pending = append(s.pending, event)
	run, isRun := store.Plain(event.Object).(*kudo.PlanExecution)
	switch {
	case !isRun || len(s.pending) > maxPending:
		s.over = v1beta1.StreamEndedInterrupted
	case event.Type == watch.Deleted:
		s.over = v1beta1.StreamEndedDeleted
	case run.Status.Status.IsTerminal():
		s.over = v1beta1.StreamEndedRunEnded
	}
}
