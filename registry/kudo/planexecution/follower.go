// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

// state is a run as it was at a moment.
type state struct {
	run     *kudo.PlanExecution
	deleted bool
}

// mailbox holds the newest states of a run until somebody takes them. A state has the whole log, so those before it can be left out:
// who reads slowly neither holds up the watch nor fills the memory. There is more than one, because at its full length the log
// drops something with every state, which a reader who is a little late would miss.
type mailbox chan state

const mailboxSize = 64

func newMailbox() mailbox { return make(mailbox, mailboxSize) }

// put adds a state, in the place of the oldest if there are too many. Only one may put.
func (m mailbox) put(s state) {
	for {
		select {
		case m <- s:
			return
		default:
		}
		select {
		case <-m:
		default:
		}
	}
}

// follower puts the states of one run into a mailbox until it ends. It goes on after its watch expired or was ended by the watch
// cache, and while the storage is away.
type follower struct {
	source source
	last   *kudo.PlanExecution
	// from is the version from which to watch on.
	from   string
	states mailbox
	// failing says that an error was logged and nothing has been read since.
	failing bool
}

// rereadInterval is the pause, and up to half as much again, before a run is read again whose watch has ended.
const rereadInterval = time.Second

func (f *follower) run(ctx context.Context) {
	// While even reading fails there is no use in a watch.
	for f.failing || !f.watch(ctx) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait.Jitter(rereadInterval, 0.5)):
		}
		if f.reread(ctx) {
			return
		}
	}
}

// watch tells of what happens until the watch ends. It returns true if nothing more will happen to the run.
func (f *follower) watch(ctx context.Context) bool {
	w, err := f.source.Watch(ctx, &metainternalversion.ListOptions{FieldSelector: named(f.last.Name), ResourceVersion: f.from})
	if err != nil {
		f.failed(ctx, err)
		return false
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return true
		case event, ok := <-w.ResultChan():
			if !ok || event.Type == watch.Error {
				return false
			}
			run, isRun := store.Plain(event.Object).(*kudo.PlanExecution)
			if isRun && run.UID == f.last.UID && f.tell(run, event.Type == watch.Deleted) {
				return true
			}
		}
	}
}

// tell passes a state on and returns true if it is the last.
func (f *follower) tell(run *kudo.PlanExecution, deleted bool) bool {
	f.last = run
	f.states.put(state{run, deleted})
	return deleted || run.Status.Status.IsTerminal()
}

// reread finds out what happened while nobody watched.
func (f *follower) reread(ctx context.Context) bool {
	run, from, err := newest(ctx, f.source, f.last.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && run.UID != f.last.UID:
		return f.tell(f.last, true)
	case err != nil:
		f.failed(ctx, err)
		return false
	}
	f.from, f.failing = from, false
	return f.tell(run, false)
}

// failed logs an error after which the follower tries again, once until it works again: there may be a thousand followers.
func (f *follower) failed(ctx context.Context, err error) {
	if ctx.Err() == nil && !f.failing {
		f.failing = true
		klog.FromContext(ctx).Error(err, "The log of a run cannot be followed now; trying again", "planExecution", klog.KObj(f.last))
	}
}
