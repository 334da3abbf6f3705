// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// reaction is the longest that what is surplus may stay, on a busy machine too.
const reaction = 15 * time.Second

// TestDefaults: of 25 runs that ended well and 15 that failed, the newest 10 of each stay, whatever a change of the limits keeps of
// them then.
func TestDefaults(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, quick())
	well, badly := ran(t, l, ns, "well", 25), ran(t, l, ns, "badly", 15)
	runs := stored(t, l, ns, slices.Concat(well[15:], badly[5:])...)
	if len(runs) != 20 {
		t.Errorf("%d runs with that of deploy, want 20", len(runs))
	}
	before := l.Unlocked(t, ns, "sample")
	for plan, name := range map[string]string{"well": well[24], "badly": badly[14]} {
		if run := runs[slices.IndexFunc(runs, func(run v1beta1.PlanExecution) bool { return run.Name == name })]; before.Status.PlanStatus[plan].UID != run.UID {
			t.Errorf("the Instance knows of run %s of plan %s, want %s", before.Status.PlanStatus[plan].UID, plan, run.UID)
		}
	}

	after := patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":2}}`)
	begin := time.Now()
	stored(t, l, ns, slices.Concat(well[23:], badly[5:])...)
	soon(t, begin)
	if after.Generation != before.Generation+1 || after.Spec.PlanExecution.UID != "" {
		t.Errorf("generation %d became %d, run %q", before.Generation, after.Generation, after.Spec.PlanExecution.UID)
	}
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":0,"failedRunsHistoryLimit":0}}`)
	begin = time.Now()
	stored(t, l, ns)
	soon(t, begin)
	if s := l.Unlocked(t, ns, "sample").Status.PlanStatus; s["well"].Status != v1beta1.ExecutionComplete || s["badly"].Status != v1beta1.ExecutionFatalError {
		t.Errorf("status of the plans: %+v", s)
	}

	t.Log("with 0 a run goes when it has ended; without the fields the defaults hold again")
	pe := l.Trigger(t, ns, "well")
	ended(t, l, pe, v1beta1.ExecutionComplete)
	stored(t, l, ns)
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":null,"failedRunsHistoryLimit":null}}`)
	stored(t, l, ns, ran(t, l, ns, "well", 11)[1:]...)
}

func soon(t *testing.T, begin time.Time) {
	t.Helper()
	if took := time.Since(begin); took > reaction {
		t.Errorf("the surplus was gone after %v, want at most %v", took, reaction)
	} else {
		t.Logf("the surplus was gone after %v", took.Round(time.Millisecond))
	}
}

// TestRunning: limits of 0 leave a run that has not ended alone, and take it when it has.
func TestRunning(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, quick())
	done := ran(t, l, ns, "well", 3)
	pe := l.Trigger(t, ns, "hold")
	l.Run(t, pe, "to begin", func(pe *v1beta1.PlanExecution) bool { return pe.Status.Status == v1beta1.ExecutionInProgress })
	stored(t, l, ns, append(done, pe.Name)...)
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":0,"failedRunsHistoryLimit":0}}`)
	stored(t, l, ns, pe.Name)
	if i := l.Instance(t, ns, "sample", "to be read", func(*v1beta1.Instance) bool { return true }); i.Spec.PlanExecution.UID != pe.UID {
		t.Errorf("the lock is held by %q, want %q", i.Spec.PlanExecution.UID, pe.UID)
	}
	if _, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).Patch(t.Context(), pe.Name, types.MergePatchType, []byte(`{"spec":{"activeDeadlineSeconds":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ended(t, l, pe, v1beta1.ExecutionFatalError)
	stored(t, l, ns)
}

// TestTimeToLive: a run goes when its own time is over or when it is surplus, whichever is first.
func TestTimeToLive(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, quick())
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":2}}`)
	first := ran(t, l, ns, "well", 2)
	living := func(seconds int32) string {
		t.Helper()
		pe := l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "well", TTLSecondsAfterFinished: &seconds})
		ended(t, l, pe, v1beta1.ExecutionComplete)
		return pe.Name
	}
	long := living(3600)
	stored(t, l, ns, first[1], long)
	short := living(0)
	// Before or after it went by its own time, it made the oldest surplus.
	runs := until(t, l, ns, func(runs []v1beta1.PlanExecution) bool {
		return !slices.ContainsFunc(runs, func(run v1beta1.PlanExecution) bool { return run.Name == short })
	}, func() string { return short + " is still there" })
	if !slices.ContainsFunc(runs, func(run v1beta1.PlanExecution) bool { return run.Name == long }) {
		t.Errorf("%s, which lives for an hour, is gone: %+v", long, runs)
	}
	last := []string{living(3600), living(3600)}
	stored(t, l, ns, last...)
}

// TestInvalidLimits: what is refused says what would be accepted.
func TestInvalidLimits(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, quick())
	for body, says := range map[string]string{
		`{"spec":{"successfulRunsHistoryLimit":-1}}`: "spec.successfulRunsHistoryLimit: Invalid value: -1: must not be negative; 0 keeps none",
		`{"spec":{"failedRunsHistoryLimit":20000}}`:  "spec.failedRunsHistoryLimit: Invalid value: 20000: must be at most 10000",
	} {
		_, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, []byte(body), metav1.PatchOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
