// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func watchRun(t *testing.T, m *memory, version string, limit time.Duration, shutdown <-chan struct{}) watch.Interface {
	t.Helper()
	w, err := (&StatusWatcher{m, limit, shutdown}).Watch(t.Context(), &metainternalversion.ListOptions{FieldSelector: named("run"), ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// nextEvent is the next event as type and version, with the reason if it is the last.
func nextEvent(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case event, ok := <-w.ResultChan():
		if !ok {
			return "closed"
		}
		run := event.Object.(*kudo.PlanExecution)
		return strings.TrimSpace(fmt.Sprint(event.Type, " ", run.ResourceVersion, " ", run.Annotations[v1beta1.StreamEndedAnnotation]))
	case <-time.After(patience):
		t.Fatal("nothing comes")
		return ""
	}
}

func events(t *testing.T, w watch.Interface) []string {
	t.Helper()
	var all []string
	for {
		e := nextEvent(t, w)
		if e == "closed" {
			return all
		}
		all = append(all, e)
	}
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStatusWatch(t *testing.T) {
	m := newMemory(newRun())
	w := watchRun(t, m, "", time.Hour, nil)
	m.set(waitsFor("a"))
	m.set(endedStatus())
	expect(t, events(t, w), "ADDED 10", "MODIFIED 11", "MODIFIED 12", "BOOKMARK 12 RunEnded")
	m.others(5)
	expect(t, events(t, watchRun(t, m, "", time.Hour, nil)), "ADDED 12", "BOOKMARK 12 RunEnded")
	expect(t, events(t, watchRun(t, m, "10", time.Hour, nil)), "MODIFIED 11", "MODIFIED 12", "BOOKMARK 12 RunEnded")
	expect(t, events(t, watchRun(t, m, "12", time.Hour, nil)), "BOOKMARK 12 RunEnded")
	expect(t, events(t, watchRun(t, m, "17", time.Hour, nil)), "BOOKMARK 17 RunEnded")
}

func TestStatusWatchEnds(t *testing.T) {
	m, shutdown := newMemory(newRun()), make(chan struct{})
	m.others(5)
	expect(t, events(t, watchRun(t, m, "", 10*time.Millisecond, nil)), "ADDED 10", "BOOKMARK 10 TimeLimit")
	expect(t, events(t, watchRun(t, m, "10", 10*time.Millisecond, nil)), "BOOKMARK 10 TimeLimit")

	w := watchRun(t, m, "0", time.Hour, shutdown)
	expect(t, []string{nextEvent(t, w)}, "ADDED 10")
	close(shutdown)
	expect(t, events(t, w), "BOOKMARK 10 ServerStopping")

	w = watchRun(t, m, "", time.Hour, nil)
	expect(t, []string{nextEvent(t, w)}, "ADDED 10")
	m.breakOff()
	expect(t, events(t, w), "BOOKMARK 10 Interrupted")

	w = watchRun(t, m, "10", time.Hour, nil)
	m.remove()
	expect(t, events(t, w), "DELETED 16", "BOOKMARK 16 Deleted")
	if got := m.watched(); got != 1 { // the fake does not notice Stop; none was opened for an answer without events
		t.Errorf("%d watches", got)
	}
}

// TestStatusWatchResumes: as long as the run has not changed, every version will do; what is not kept is not passed over in silence.
func TestStatusWatchResumes(t *testing.T) {
	m := newMemory(newRun())
	m.others(100)
	m.breakOff()
	w := watchRun(t, m, "10", time.Hour, nil)
	m.set(waitsFor("a"))
	expect(t, []string{nextEvent(t, w)}, "MODIFIED 111")
	m.breakOff()
	for version, want := range map[string]string{"10": "status.log", "500": "not of this storage", "x": "resourceVersion: Invalid value"} {
		_, err := (&StatusWatcher{m, time.Hour, nil}).Watch(t.Context(), &metainternalversion.ListOptions{FieldSelector: named("run"), ResourceVersion: version})
		if apierrors.IsResourceExpired(err) == (version == "x") || apierrors.IsBadRequest(err) != (version == "x") || !strings.Contains(err.Error(), want) {
			t.Errorf("version %s: %v", version, err)
		}
	}
	_, err := (&StatusWatcher{m, time.Hour, nil}).Watch(t.Context(), &metainternalversion.ListOptions{FieldSelector: named("none")})
	if !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want 404", err)
	}
}

// TestStatusWatchOfASlowClient: events wait, up to a number, and nothing is left out before the stream says that it is interrupted.
func TestStatusWatchOfASlowClient(t *testing.T) {
	m := newMemory(newRun())
	w := watchRun(t, m, "", time.Hour, nil)
	for i := range 2 * maxPending {
		m.set(waitsFor(i))
	}
	for i := range maxPending {
		want := fmt.Sprint("MODIFIED ", 10+i)
		if i == 0 {
			want = "ADDED 10"
		}
		if got := nextEvent(t, w); got != want {
			t.Fatalf("event %d is %s, want %s", i, got, want)
		}
	}
	rest := events(t, w)
	last := len(rest) - 1
	if last < 1 || rest[last] != strings.Replace(rest[last-1], "MODIFIED", "BOOKMARK", 1)+" Interrupted" {
		t.Errorf("the end is %q", rest[max(0, last-3):])
	}
}
