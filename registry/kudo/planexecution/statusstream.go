// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/store"
)

// maxPending is how many events wait for a client that reads slowly before its stream ends. The watch cache, which tells all clients
// in turn, never waits for it.
const maxPending = 100

// statusStream passes the events of one run on until it ends.
type statusStream struct {
	source watch.Interface
	result chan watch.Event
	proxy  *watch.ProxyWatcher
	// run is the object as it was at the beginning.
	run *kudo.PlanExecution
	// version is that of the last event that was sent, or at first that which the client has.
	version string
	pending []watch.Event
	// over is why the stream ends; empty while it goes on.
	over string
}

// serve sends what happens until the stream is over. Nobody stops a watch whose answer could not be begun, so the end of the request ends
// it too.
func (s *statusStream) serve(ctx context.Context, limit time.Duration, shutdown <-chan struct{}) {
	defer close(s.result)
	var events <-chan watch.Event
	if s.source != nil {
		defer s.source.Stop()
		events = s.source.ResultChan()
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for s.over == "" || len(s.pending) > 0 {
		var out chan<- watch.Event
		var first watch.Event
		if len(s.pending) > 0 {
			out, first = s.result, s.pending[0]
		}
		if s.over != "" {
			events = nil
		}
		select {
		case out <- first:
			s.sent(first)
		case event, ok := <-events:
			s.receive(event, ok)
		case <-timer.C:
			s.over, s.pending = v1beta1.StreamEndedTimeLimit, nil // what was not sent comes when it is resumed
		case <-shutdown:
			s.over, s.pending = v1beta1.StreamEndedServerStopping, nil
		case <-s.proxy.StopChan():
			return
		case <-ctx.Done():
			return
		}
	}
	select {
	case s.result <- s.last():
	case <-s.proxy.StopChan():
	case <-ctx.Done():
	}
}

func (s *statusStream) sent(event watch.Event) {
	s.pending = s.pending[1:]
	if run, ok := store.Plain(event.Object).(*kudo.PlanExecution); ok {
		s.version = run.ResourceVersion
	}
}

// last says why the stream ends and where it can be resumed.
func (s *statusStream) last() watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &kudo.PlanExecution{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.run.Namespace, Name: s.run.Name, UID: s.run.UID, ResourceVersion: s.version,
		Annotations: map[string]string{v1beta1.StreamEndedAnnotation: s.over}}}}
}
