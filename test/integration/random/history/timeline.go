// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// state is how an object was, for all resource versions from one to another, both included.
type state[T metav1.Object] struct {
	from, until uint64
	// at is when it was first seen.
	at  time.Time
	obj T
}

// timeline is what is known about one object. Between two states may be a time of which nothing is known.
type timeline[T metav1.Object] struct {
	states []state[T]
	// gone is when the object was first known to be deleted; zero if it is there.
	gone time.Time
}

func (t *timeline[T]) last() *state[T] { return &t.states[len(t.states)-1] }

func (t *timeline[T]) obj() T { return t.last().obj }

// watched puts the events of one observer in order, by object.
type watched[T metav1.Object] struct {
	byUID map[types.UID]*timeline[T]
	// order is that of byUID, by first sight.
	order []types.UID
	// blind are the times in which nothing was seen.
	blind []Span
	// known is the newest version that the watch that is open has seen.
	known    uint64
	brokenAt time.Time
	wrong    []Violation
}

// watch builds the timelines. end closes what is open.
func watch[T metav1.Object](events []Event[T], end time.Time) *watched[T] {
	w := &watched[T]{byUID: map[types.UID]*timeline[T]{}}
	for _, e := range events {
		w.known = max(w.known, e.Version)
		switch e.Type {
		case Listed:
			w.listed(e)
		case Seen:
			w.seen(e.Objects[0], e.At, true)
		case Gone:
			w.removed(e.Objects[0].GetUID(), e.Version-1, e.At)
		case Broken:
			w.hold()
			w.brokenAt = e.At
		}
	}
	if w.brokenAt.IsZero() {
		w.hold()
	} else {
		w.blind = append(w.blind, Span{w.brokenAt, end})
	}
	return w
}

func (w *watched[T]) listed(e Event[T]) {
	if !w.brokenAt.IsZero() {
		w.blind = append(w.blind, Span{w.brokenAt, e.At})
		w.brokenAt = time.Time{}
	}
	there := map[types.UID]bool{}
	for _, obj := range e.Objects {
		there[obj.GetUID()] = true
		w.seen(obj, e.At, false)
	}
	for uid, t := range w.byUID {
		if !there[uid] && t.gone.IsZero() {
			t.gone = e.At
		}
	}
	w.hold()
}

// hold notes that all objects are as they were last seen up to what is known.
func (w *watched[T]) hold() {
	for _, t := range w.byUID {
		if t.gone.IsZero() {
			t.last().until = max(t.last().until, w.known)
		}
	}
}

// seen takes in a state. unbroken says that nothing was missed since the state before.
func (w *watched[T]) seen(obj T, at time.Time, unbroken bool) {
	version := Version(obj.GetResourceVersion())
	t := w.byUID[obj.GetUID()]
	if t == nil {
		t = &timeline[T]{}
		w.byUID[obj.GetUID()] = t
		w.order = append(w.order, obj.GetUID())
	} else {
		last := t.last()
		if !t.gone.IsZero() {
			w.wrong = append(w.wrong, of(RuleOrder, obj, at, "it was gone and is there again"))
			t.gone = time.Time{}
		}
		if version == last.from {
			return
		}
		if version < last.from {
			w.wrong = append(w.wrong, of(RuleOrder, obj, at, fmt.Sprintf("version %d was seen after version %d", version, last.from)))
			return
		}
		if unbroken {
			last.until = max(last.until, version-1)
		}
	}
	t.states = append(t.states, state[T]{from: version, until: version, at: at, obj: obj})
}

func (w *watched[T]) removed(uid types.UID, until uint64, at time.Time) {
	if t := w.byUID[uid]; t != nil && t.gone.IsZero() {
		t.last().until = max(t.last().until, until)
		t.gone = at
	}
}

// Version is a resource version as a number; 0 if it is none.
func Version(s string) uint64 {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// without is how much of the time from a to b is in none of the spans.
func without(a, b time.Time, spans []Span) time.Duration {
	if !b.After(a) {
		return 0
	}
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(x, y Span) int { return x.From.Compare(y.From) })
	var free time.Duration
	at := a
	for _, s := range spans {
		if s.From.After(at) {
			free += earlier(s.From, b).Sub(at)
		}
		if s.To.After(at) {
			at = s.To
		}
		if !at.Before(b) {
			return free
		}
	}
	return free + b.Sub(at)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
