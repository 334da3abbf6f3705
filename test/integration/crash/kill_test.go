// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// lockTime is the longest that an Instance may stay locked after its run has ended.
const lockTime = 3 * time.Second

// TestKillExecutor: the executor is killed at a random moment of a run.
func TestKillExecutor(t *testing.T) {
	l := room.Enter(t)
	kill(t, l, func(*rand.Rand) { must(t, l.KUDO.KillExecutor()) }, 2)
}

// TestKillServer: the server is killed at a random moment of a run.
func TestKillServer(t *testing.T) {
	l := room.Enter(t)
	kill(t, l, func(*rand.Rand) { must(t, l.KUDO.KillServer()) }, 1)
}

// TestKillBoth: both are killed, one after the other in random order.
func TestKillBoth(t *testing.T) {
	l := room.Enter(t)
	kill(t, l, func(r *rand.Rand) {
		if r.IntN(2) == 0 {
			must(t, l.KUDO.KillExecutor())
			must(t, l.KUDO.KillServer())
		} else {
			must(t, l.KUDO.KillServer())
			must(t, l.KUDO.KillExecutor())
		}
	}, 2)
}

// kill repeats: a run, the end of something at a moment drawn from the time an undisturbed run takes, a restart. starts is
// how many executors take part in a run.
func kill(t *testing.T, l *lab.Lab, end func(*rand.Rand), starts int) {
	ns := installed(t, l)
	r := random(t)
	round := 0
	start := func() *v1beta1.PlanExecution {
		round++
		return l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "work", Parameters: map[string]string{"round": strconv.Itoa(round)}})
	}
	begin := time.Now()
	l.Ended(t, start(), v1beta1.ExecutionComplete)
	undisturbed := time.Since(begin)
	l.Unlocked(t, ns, "sample")
	inOrder(t, writes(t, ns, begin), 1)
	t.Logf("an undisturbed run takes %v", undisturbed.Round(time.Millisecond))
	repeat(t, func(n int) {
		delay := time.Duration(r.Float64() * float64(undisturbed))
		begin := time.Now()
		pe := start()
		ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
		recorded := make(chan *recorder, 1)
		go func() {
			defer close(recorded)
			recorded <- record(ctx, t, l, pe)
		}()
		// The random moment is what is tested; nothing is awaited here.
		time.Sleep(delay)
		end(r)
		down := time.Now()
		must(t, l.KUDO.StartServer(ctx))
		must(t, l.KUDO.StartExecutor(ctx))
		up := time.Now()
		rec := <-recorded
		cancel()
		if rec == nil {
			t.FailNow()
		}
		released(t, l, ns, later(rec.ended, up))
		whole(t, rec.last, steps)
		inOrder(t, writes(t, ns, begin), starts)
		once(t, l, ns, pe, round)
		t.Logf("%2d: killed after %4d ms, down for %4d ms, %2d states seen, complete after %4d ms", n, delay.Milliseconds(), up.Sub(down).Milliseconds(), rec.states, rec.ended.Sub(begin).Milliseconds())
	})
}

// released checks that the Instance is unlocked soon enough after the run has ended and the server is there.
func released(t *testing.T, l *lab.Lab, ns string, ended time.Time) {
	t.Helper()
	l.Unlocked(t, ns, "sample")
	if took := time.Since(ended); took > lockTime {
		t.Errorf("the lock was released %v after the run had ended, want at most %v", took, lockTime)
	}
}

// once checks that there is one run with the uid that was accepted, and as many runs of its plan as were started.
func once(t *testing.T, l *lab.Lab, ns string, accepted *v1beta1.PlanExecution, want int) {
	t.Helper()
	list, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.planName=" + accepted.Spec.PlanName})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, pe := range list.Items {
		if pe.UID == accepted.UID {
			found++
		}
		if !pe.Status.Status.IsTerminal() {
			t.Errorf("run %s has not ended", pe.Name)
		}
	}
	if found != 1 || len(list.Items) != want {
		t.Errorf("%d of %d runs have the uid, want 1 of %d", found, len(list.Items), want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
