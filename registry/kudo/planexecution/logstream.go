// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// logStream is an answer that is written while it is read. It is an object only in form.
type logStream struct {
	rest    *LogREST
	options kudo.PlanExecutionLogOptions
	// first is the run at the beginning, from the version from which it is watched on.
	first *kudo.PlanExecution
	from  string
}

var _ rest.ResourceStreamer = &logStream{}

// GetObjectKind is empty.
func (*logStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the stream itself, which never changes.
func (s *logStream) DeepCopyObject() runtime.Object { return s }

// InputStream starts writing. ctx ends when the client has gone.
func (s *logStream) InputStream(ctx context.Context, _, _ string) (io.ReadCloser, bool, string, error) {
	contentType := textLog
	if s.options.Format == kudo.JSONLogFormat {
		contentType = jsonLog
	}
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(s.write(ctx, writer)) }()
	return reader, s.options.Follow, contentType, nil
}

// write returns nil when the stream has ended in order.
func (s *logStream) write(ctx context.Context, out io.Writer) error {
	p := &logPrinter{out: out, json: s.options.Format == kudo.JSONLogFormat, plan: s.first.Spec.PlanName, sequence: s.options.SinceSequence}
	if err := p.entries(s.first.Status.Log); err != nil || !s.options.Follow || s.first.Status.Status.IsTerminal() {
		return err
	}
	// The context of the request does not say the namespace.
	ctx, cancel := context.WithCancel(namespaced(ctx, s.first.Namespace))
	defer cancel()
	states := newMailbox()
	go (&follower{source: s.rest.executions, last: s.first, from: s.from, states: states}).run(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.rest.shutdown:
			return s.stop(p, states)
		case state := <-states:
			if ended, err := s.show(p, state); ended || err != nil {
				return err
			}
		}
	}
}

// show writes what is new in a state and tells whether nothing more will come.
func (*logStream) show(p *logPrinter, state state) (ended bool, err error) {
	if err := p.entries(state.run.Status.Log); err != nil {
		return true, err
	}
	if state.run.Status.Status.IsTerminal() {
		return true, nil
	}
	if state.deleted {
		return true, p.say(v1beta1.LogNoticeDeleted, "the PlanExecution was deleted before its end")
	}
	return false, nil
}

// stop writes what has come and where to read on.
func (s *logStream) stop(p *logPrinter, states mailbox) error {
	for {
		select {
		case state := <-states:
			if ended, err := s.show(p, state); ended || err != nil {
				return err
			}
		default:
			return p.say(v1beta1.LogNoticeServerStopping, fmt.Sprintf("the server stops; follow again to see the rest, with sinceSequence=%d", p.sequence))
		}
	}
}
