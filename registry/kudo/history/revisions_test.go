// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/history"
	"kudo.dev/kudo/registry/kudo/planexecution"
	"kudo.dev/kudo/registry/kudo/revision"
)

func sorted(names ...string) []string { return slices.Sorted(slices.Values(names)) }

// TestPruneRevisions: revisions go when no run refers to them any more and they have been marked for long enough.
func TestPruneRevisions(t *testing.T) {
	s := open(t)
	i := s.instance(t, new(int32(2)), nil)
	var names []string
	for n, content := range []string{"a", "b", "c", "d"} {
		names = append(names, s.kept(t, content, time.Duration(4-n)*time.Hour))
		s.run(t, content, "db", kudo.ExecutionComplete, n, names[n])
	}
	if again := s.prune(t); again != history.Grace {
		t.Errorf("again in %v, want %v", again, history.Grace)
	}
	if diff := cmp.Diff([]string{"c", "d"}, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
	for n, name := range names {
		if _, marked := revision.UnusedSince(s.revision(t, name)); marked != (n < 2) {
			t.Errorf("revision %d is marked: %v", n, marked)
		}
	}
	s.clock.SetTime(s.clock.Now().Add(history.Grace - 2*time.Second))
	if again := s.prune(t); again <= 0 || again > 2*time.Second {
		t.Errorf("again in %v, want the rest", again)
	}
	if diff := cmp.Diff(sorted(names...), left(t, s.revisions)); diff != "" {
		t.Errorf("too early: %s", diff)
	}
	t.Log("a request is going to use the first one again")
	if name := s.used(t, i, "a"); name != names[0] {
		t.Fatalf("named %s and then %s", names[0], name)
	}
	s.clock.SetTime(s.clock.Now().Add(2 * time.Second))
	if again := s.prune(t); again != history.Grace {
		t.Errorf("again in %v, want %v for the one that was used in between", again, history.Grace)
	}
	if diff := cmp.Diff(sorted(names[0], names[2], names[3]), left(t, s.revisions)); diff != "" {
		t.Error(diff)
	}
}

// late lets something happen after the revisions were read.
type late struct {
	*revision.REST
	happens func()
}

func (l late) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	out, err := l.REST.List(ctx, options)
	l.happens()
	return out, err
}

// TestPruneLate: what happens after a server has read the revisions, and before it deletes one.
func TestPruneLate(t *testing.T) {
	s := open(t)
	i := s.instance(t, nil, nil)
	s.kept(t, "newest", 0)
	for what, happens := range map[string]func(name string){
		"a request is going to use it": func(name string) { s.used(t, i, name) },
		"a run of it takes the lock":   func(name string) { s.locked(t, revisionOf(t, name)) },
		"a run of it is stored":        func(name string) { s.run(t, "run", "db", kudo.ExecutionPending, 0, revisionOf(t, name)) },
	} {
		t.Run(what, func(t *testing.T) {
			name := s.kept(t, what, time.Hour)
			s.prune(t) // marks it
			s.clock.SetTime(s.clock.Now().Add(history.Grace))
			before := s.revision(t, name)
			if _, marked := revision.UnusedSince(before); !marked {
				t.Fatalf("not marked: %+v", before.ObjectMeta)
			}
			pruner := *s.pruner
			pruner.Revisions = late{s.revisions, func() { happens(what) }}
			if _, err := pruner.Prune(t.Context(), "ns", "db"); err != nil {
				t.Error(err)
			}
			if after := s.revision(t, name); after.UID != before.UID {
				t.Errorf("uid %s became %s", before.UID, after.UID)
			}
		})
	}
}

func revisionOf(t *testing.T, content string) string {
	t.Helper()
	name, err := revision.Name("db", version(content))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// lastLook lets something happen after each list of runs.
type lastLook struct {
	*planexecution.REST
	happens func()
}

func (l lastLook) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	out, err := l.REST.List(ctx, options)
	l.happens()
	return out, err
}

// TestPruneAgainstRequest: a request finds a revision and takes the lock for a run of it, while a server that has seen that nobody uses
// it is about to delete it. Whoever is first, the revision that the lock names is there in the end.
func TestPruneAgainstRequest(t *testing.T) {
	s := open(t)
	i := s.instance(t, nil, nil)
	s.kept(t, "newest", 0)
	fate := map[bool]int{}
	for n := range 24 {
		content := fmt.Sprint("old ", n)
		name := s.kept(t, content, time.Hour)
		s.prune(t) // marks it
		s.clock.SetTime(s.clock.Now().Add(history.Grace))
		before := s.revision(t, name).UID
		var request sync.WaitGroup
		looks := 0
		pruner := *s.pruner
		pruner.Runs = lastLook{s.runs, func() {
			if looks++; looks != 2 {
				return
			}
			request.Go(func() {
				// The moment is what is tested: each of the two is first at times.
				time.Sleep(time.Duration(n%8) * 250 * time.Microsecond)
				s.locked(t, s.used(t, i, content))
			})
		}}
		if _, err := pruner.Prune(t.Context(), "ns", "db"); err != nil || looks != 2 {
			t.Fatalf("%d looks at the runs, %v", looks, err)
		}
		request.Wait()
		fate[s.revision(t, name).UID == before]++ // fails if there is none
		s.locked(t, "")
	}
	t.Logf("kept %d times, stored anew %d times", fate[true], fate[false])
}
