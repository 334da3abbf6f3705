// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// at is a run that ended n seconds after noon.
func at(name string, status kudo.ExecutionStatus, n int) kudo.PlanExecution {
	run := kudo.PlanExecution{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(noon)}}
	run.Status.Status = status
	if status.IsTerminal() {
		run.Status.CompletionTime = &metav1.Time{Time: noon.Add(time.Duration(n) * time.Second)}
	}
	return run
}

// versioned is a run that ended a second after noon, in the write with that version.
func versioned(name, version string) kudo.PlanExecution {
	run := at(name, kudo.ExecutionComplete, 1)
	run.ResourceVersion = version
	return run
}

func limited(successful, failed *int32) *kudo.Instance {
	return &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: kudo.InstanceSpec{SuccessfulRunsHistoryLimit: successful, FailedRunsHistoryLimit: failed}}
}

func names(runs []*kudo.PlanExecution) []string {
	var out []string
	for _, run := range runs {
		out = append(out, run.Name)
	}
	return out
}

func TestSurplus(t *testing.T) {
	const well, badly = kudo.ExecutionComplete, kudo.ExecutionFatalError
	going := at("going", badly, 1) // somebody holds it with a finalizer
	going.DeletionTimestamp = &metav1.Time{Time: noon}
	young := at("young", well, 1)
	young.CreationTimestamp = metav1.NewTime(noon.Add(time.Minute))
	timeless := at("timeless", well, 0)
	timeless.Status.CompletionTime = nil
	var twelve []kudo.PlanExecution
	for n := range 12 {
		twelve = append(twelve, at(fmt.Sprintf("r%02d", n), well, n))
	}
	holding := func(i *kudo.Instance, uid string) *kudo.Instance {
		i.Spec.PlanExecution.UID = types.UID(uid)
		return i
	}
	for _, tc := range []struct {
		name string
		i    *kudo.Instance
		runs []kudo.PlanExecution
		want []string
	}{
		{"none", limited(nil, nil), nil, nil},
		{"the defaults", limited(nil, nil), twelve, []string{"r00", "r01"}},
		{"the limit of failures is another one", limited(nil, new(int32(0))), twelve[:10], nil},
		{"one of each", limited(new(int32(1)), new(int32(1))), []kudo.PlanExecution{at("d", badly, 4), at("b", badly, 2), at("a", well, 1), at("c", well, 3)}, []string{"a", "b"}},
		{"all", limited(new(int32(0)), new(int32(0))), []kudo.PlanExecution{at("b", well, 2), at("a", badly, 1)}, []string{"a", "b"}},
		{"what has not ended", limited(new(int32(0)), new(int32(0))), []kudo.PlanExecution{at("a", kudo.ExecutionPending, 0), at("b", kudo.ExecutionInProgress, 0), at("c", kudo.ErrorStatus, 0), at("d", "", 0)}, nil},
		{"an end that the Instance does not know", holding(limited(new(int32(0)), nil), "a"), []kudo.PlanExecution{at("a", well, 1), at("b", well, 2)}, []string{"b"}},
		{"that end does not count", holding(limited(new(int32(1)), nil), "b"), []kudo.PlanExecution{at("a", well, 1), at("b", well, 2)}, nil},
		{"being deleted", limited(nil, new(int32(1))), []kudo.PlanExecution{going, at("b", badly, 2)}, nil},
		{"being deleted, with none kept", limited(nil, new(int32(0))), []kudo.PlanExecution{going, at("b", badly, 2)}, []string{"b"}},
		{"the same end", limited(new(int32(1)), nil), []kudo.PlanExecution{young, at("old", well, 1)}, []string{"old"}},
		{"the same times", limited(new(int32(1)), nil), []kudo.PlanExecution{at("b", well, 1), at("a", well, 1)}, []string{"a"}},
		{"the same times in one second", limited(new(int32(1)), nil), []kudo.PlanExecution{versioned("a", "100"), versioned("b", "99")}, []string{"b"}},
		{"an end without time", limited(new(int32(1)), nil), []kudo.PlanExecution{at("b", well, 1), timeless}, []string{"timeless"}},
		{"a limit that was never valid", limited(new(int32(-3)), nil), twelve[:2], []string{"r00", "r01"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, names(Surplus(tc.i, tc.runs))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSurplusProperties: whatever the runs, what is deleted was never too much, never too little, and always the oldest.
func TestSurplusProperties(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	statuses := []kudo.ExecutionStatus{kudo.ExecutionPending, kudo.ExecutionInProgress, kudo.ErrorStatus, kudo.ExecutionComplete, kudo.ExecutionComplete, kudo.ExecutionFatalError, kudo.ExecutionFatalError}
	for range 2000 {
		limit := func() *int32 {
			if random.IntN(4) == 0 {
				return nil
			}
			return new(random.Int32N(15))
		}
		i := limited(limit(), limit())
		var runs []kudo.PlanExecution
		for n := range random.IntN(60) {
			run := at(fmt.Sprintf("r%d", n), statuses[random.IntN(len(statuses))], random.IntN(20))
			if random.IntN(10) == 0 {
				run.DeletionTimestamp = &metav1.Time{Time: noon}
			}
			if random.IntN(30) == 0 {
				i.Spec.PlanExecution.UID = run.UID
			}
			runs = append(runs, run)
		}
		surplus := Surplus(i, runs)
		gone := names(surplus)
		successful, failed := Limits(i)
		for _, kind := range []struct {
			status kudo.ExecutionStatus
			keep   int
		}{{kudo.ExecutionComplete, successful}, {kudo.ExecutionFatalError, failed}} {
			var kept, dropped []*kudo.PlanExecution
			for r := range runs {
				run := &runs[r]
				if run.Status.Status != kind.status || run.DeletionTimestamp != nil || run.UID == i.Spec.PlanExecution.UID {
					continue
				}
				if slices.Contains(gone, run.Name) {
					dropped = append(dropped, run)
				} else {
					kept = append(kept, run)
				}
			}
			gone = slices.DeleteFunc(gone, func(name string) bool {
				return slices.ContainsFunc(dropped, func(run *kudo.PlanExecution) bool { return run.Name == name })
			})
			if len(kept) != min(kind.keep, len(kept)+len(dropped)) {
				t.Fatalf("seed %d: %d of %d %s are kept, want at most %d and no fewer than there are", seed, len(kept), len(kept)+len(dropped), kind.status, kind.keep)
			}
			for _, k := range kept {
				for _, d := range dropped {
					if end(d).After(end(k)) {
						t.Fatalf("seed %d: %s went before %s, which is older", seed, d.Name, k.Name)
					}
				}
			}
		}
		if len(gone) > 0 {
			t.Fatalf("seed %d: %v have not ended, hold the lock or are being deleted", seed, gone)
		}
		if !slices.IsSortedFunc(surplus, byAge) {
			t.Fatalf("seed %d: not the oldest first: %v", seed, names(surplus))
		}
		// Another server, which reads them in another order, comes to the same result; what is left is final.
		want := names(surplus)
		random.Shuffle(len(runs), func(a, b int) { runs[a], runs[b] = runs[b], runs[a] })
		if diff := cmp.Diff(want, names(Surplus(i, runs))); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		left := slices.DeleteFunc(slices.Clone(runs), func(run kudo.PlanExecution) bool { return slices.Contains(want, run.Name) })
		if again := Surplus(i, left); len(again) > 0 {
			t.Fatalf("seed %d: after the deletion %v are surplus", seed, names(again))
		}
	}
}
