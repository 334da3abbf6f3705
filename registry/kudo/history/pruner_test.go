// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
)

// fill stores 25 runs of db that ended well and 15 that failed, one that runs, and two of another Instance.
func (s *stores) fill(t *testing.T) {
	t.Helper()
	for n, name := range numbered("well-", 1, 25) {
		s.run(t, name, "db", kudo.ExecutionComplete, 2*n, "")
	}
	for n, name := range numbered("bad-", 1, 15) {
		s.run(t, name, "db", kudo.ExecutionFatalError, 3*n, "")
	}
	s.run(t, "runs", "db", kudo.ExecutionInProgress, 0, "")
	for n, name := range numbered("other-", 1, 12) {
		s.run(t, name, "other", kudo.ExecutionComplete, n, "")
	}
}

// TestPrune: two servers prune at the same time, and what is left is what one would have left.
func TestPrune(t *testing.T) {
	s := open(t)
	s.instance(t, nil, nil)
	s.fill(t)
	var servers sync.WaitGroup
	for range 2 {
		servers.Go(func() {
			pruner := *s.pruner
			if again, err := pruner.Prune(t.Context(), "ns", "db"); again != 0 || err != nil {
				t.Errorf("again in %v, %v", again, err)
			}
		})
	}
	servers.Wait()
	want := slices.Concat(numbered("bad-", 6, 15), numbered("other-", 1, 12), []string{"runs"}, numbered("well-", 16, 25))
	if diff := cmp.Diff(want, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
	t.Log("the limits are lowered")
	_, err := s.instances.Change(inNamespace(t), "db", nil, func(i *kudo.Instance) (bool, error) {
		i.Spec.SuccessfulRunsHistoryLimit, i.Spec.FailedRunsHistoryLimit = new(int32(2)), new(int32(0))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.prune(t)
	want = slices.Concat(numbered("other-", 1, 12), []string{"runs", "well-24", "well-25"})
	if diff := cmp.Diff(want, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
}

// TestPruneNothing: an Instance that does not exist has no history to prune.
func TestPruneNothing(t *testing.T) {
	s := open(t)
	s.fill(t)
	before := left(t, s.runs)
	if again := s.prune(t); again != 0 {
		t.Errorf("again in %v", again)
	}
	if diff := cmp.Diff(before, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
}

// TestPruneSameSecond: of runs that ended within a second, the one that was written last is the newest, whatever its name.
func TestPruneSameSecond(t *testing.T) {
	s := open(t)
	s.instance(t, new(int32(1)), nil)
	for _, name := range []string{"m", "z", "a", "k"} {
		s.run(t, name, "db", kudo.ExecutionComplete, 0, "")
	}
	s.prune(t)
	if diff := cmp.Diff([]string{"k"}, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
}

// TestPruneHeld: a run that somebody holds with a finalizer is deleted once, stays until it is let go, and counts for nothing.
func TestPruneHeld(t *testing.T) {
	s := open(t)
	s.instance(t, new(int32(1)), nil)
	for n, name := range numbered("well-", 1, 3) {
		s.run(t, name, "db", kudo.ExecutionComplete, n, "")
	}
	finalizers := func(wanted ...string) {
		t.Helper()
		info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			run := old.(*kudo.PlanExecution).DeepCopy()
			run.Finalizers = wanted
			return run, nil
		})
		if _, _, err := s.runs.Update(inNamespace(t), "well-01", info, nil, nil, false, &metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	held := func() *kudo.PlanExecution {
		t.Helper()
		obj, err := s.runs.Get(inNamespace(t), "well-01", &metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return obj.(*kudo.PlanExecution)
	}
	finalizers("example.com/archive")
	s.prune(t)
	if diff := cmp.Diff([]string{"well-01", "well-03"}, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
	first := held()
	s.prune(t)
	if again := held(); first.DeletionTimestamp == nil || again.ResourceVersion != first.ResourceVersion {
		t.Errorf("deleted at %v in version %s, then version %s", first.DeletionTimestamp, first.ResourceVersion, again.ResourceVersion)
	}
	finalizers()
	if diff := cmp.Diff([]string{"well-03"}, left(t, s.runs)); diff != "" {
		t.Error(diff)
	}
}
