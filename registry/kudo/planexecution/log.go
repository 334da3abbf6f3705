// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

// LogREST serves the subresource log: what happened in a run, as lines of text. The name is one of the few that the front door
// lets stream for longer than a minute.
type LogREST struct {
	executions *REST
	shutdown   <-chan struct{}
}

var (
	_ rest.GetterWithOptions = &LogREST{}
	_ rest.StorageMetadata   = &LogREST{}
)

// NewLogREST makes the subresource. Streams end when shutdown is closed, so that the server can stop.
func NewLogREST(executions *REST, shutdown <-chan struct{}) *LogREST {
	return &LogREST{executions, shutdown}
}

// New returns an empty PlanExecution.
func (*LogREST) New() runtime.Object { return &kudo.PlanExecution{} }

// Destroy does nothing: the storage belongs to REST.
func (*LogREST) Destroy() {}

// ProducesMIMETypes are what is answered.
func (*LogREST) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject tells OpenAPI that the answer is text.
func (*LogREST) ProducesObject(string) any { return "" }

// OverrideMetricsVerb keeps streams out of the latencies of GET.
func (*LogREST) OverrideMetricsVerb(verb string) string {
	if verb == "GET" {
		return "CONNECT"
	}
	return verb
}

// NewGetOptions are the options of GET.
func (*LogREST) NewGetOptions() (runtime.Object, bool, string) {
	return &kudo.PlanExecutionLogOptions{}, false, ""
}

// Get answers the log so far, and with follow=true all that comes until the run ends.
func (r *LogREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	o, ok := options.(*kudo.PlanExecutionLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not PlanExecutionLogOptions: %T", options))
	}
	obj, err := r.executions.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return &logStream{rest: r, first: obj.(*kudo.PlanExecution), follow: o.Follow}, nil
}

// logStream is an answer that is written while it is read. It is an object only in form.
type logStream struct {
	rest   *LogREST
	first  *kudo.PlanExecution
	follow bool
}

var _ rest.ResourceStreamer = &logStream{}

// GetObjectKind is empty.
func (*logStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the stream itself, which never changes.
func (s *logStream) DeepCopyObject() runtime.Object { return s }

// InputStream starts writing. ctx ends when the client has gone.
func (s *logStream) InputStream(ctx context.Context, _, _ string) (io.ReadCloser, bool, string, error) {
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(s.write(ctx, writer)) }()
	return reader, s.follow, "text/plain", nil
}

// write returns nil when the stream has ended in order.
func (s *logStream) write(ctx context.Context, out io.Writer) error {
	current := s.first
	if err := writeLines(out, progress(nil, current, time.Now())); err != nil || !s.follow {
		return err
	}
	from := current.ResourceVersion
	for !current.Status.Status.IsTerminal() {
		next, err := s.watch(ctx, out, current, from)
		if next == nil || err != nil {
			return err
		}
		if next.Status.Status.IsTerminal() {
			return nil
		}
		// The watch broke off. What a list answers is a place that can be watched from; the version of an object that has not changed
		// for long is not.
		if current, from, err = s.reread(ctx, out, next); current == nil || err != nil {
			return err
		}
	}
	return nil
}

// rereadInterval is the pause before a watch that broke off is begun again.
const rereadInterval = time.Second

// watch writes what happens until the watch ends, and returns the last state: nil if there is nothing more to follow.
func (s *logStream) watch(ctx context.Context, out io.Writer, current *kudo.PlanExecution, from string) (*kudo.PlanExecution, error) {
	w, err := s.rest.executions.Watch(ctx, &metainternalversion.ListOptions{FieldSelector: byName(current), ResourceVersion: from})
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return current, nil
	}
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-s.rest.shutdown:
			return nil, writeLines(out, []line{{time.Now(), "the server stops; follow again to see the rest"}})
		case event, ok := <-w.ResultChan():
			if !ok || event.Type == watch.Error {
				return current, nil
			}
			pe, isRun := store.Plain(event.Object).(*kudo.PlanExecution)
			if !isRun || pe.UID != current.UID {
				continue
			}
			if event.Type == watch.Deleted {
				return nil, writeLines(out, append(progress(current, pe, time.Now()), line{time.Now(), "the PlanExecution was deleted"}))
			}
			if err := writeLines(out, progress(current, pe, time.Now())); err != nil {
				return nil, err
			}
			if current = pe; current.Status.Status.IsTerminal() {
				return current, nil
			}
		}
	}
}

func byName(pe *kudo.PlanExecution) fields.Selector {
	return fields.OneTermEqualSelector("metadata.name", pe.Name)
}

// reread reads the run again after a pause, writes what happened meanwhile, and tells from where to watch on. It returns nil if there
// is nothing more to follow.
func (s *logStream) reread(ctx context.Context, out io.Writer, current *kudo.PlanExecution) (*kudo.PlanExecution, string, error) {
	select {
	case <-ctx.Done():
		return nil, "", nil
	case <-s.rest.shutdown:
		return nil, "", nil
	case <-time.After(rereadInterval):
	}
	obj, err := s.rest.executions.List(ctx, &metainternalversion.ListOptions{FieldSelector: byName(current)})
	if err != nil {
		return nil, "", err
	}
	list := obj.(*kudo.PlanExecutionList)
	if len(list.Items) == 0 || list.Items[0].UID != current.UID {
		return nil, "", writeLines(out, []line{{time.Now(), "the PlanExecution was deleted"}})
	}
	pe := &list.Items[0]
	return pe, list.ResourceVersion, writeLines(out, progress(current, pe, time.Now()))
}

func writeLines(out io.Writer, lines []line) error {
	for _, l := range lines {
		if _, err := fmt.Fprintln(out, l); err != nil {
			return err
		}
	}
	return nil
}
