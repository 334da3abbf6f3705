// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestKillServerAtTrigger: the server is killed around the moment of a trigger. What it accepted is run, once; what it did
// not leaves an Instance that can be used.
func TestKillServerAtTrigger(t *testing.T) {
	l := room.Enter(t)
	ns := installed(t, l)
	r := random(t)
	trigger := &v1beta1.PlanTrigger{PlanName: "short"}
	l.Ended(t, l.Trigger(t, ns, "work"), v1beta1.ExecutionComplete) // so that the next trigger is not the first of its kind
	l.Unlocked(t, ns, "sample")
	begin := time.Now()
	first, err := l.Kudo.KudoV1beta1().Instances(ns).CreatePlan(t.Context(), "sample", trigger, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answer := time.Since(begin)
	l.Ended(t, first, v1beta1.ExecutionComplete)
	l.Unlocked(t, ns, "sample")
	t.Logf("a trigger is answered after %v", answer.Round(time.Microsecond))

	accepted, refused := []*v1beta1.PlanExecution{first}, 0
	repeat(t, func(n int) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
		killed := make(chan error, 1)
		delay := time.Duration(r.Float64() * 2 * float64(answer))
		go func() {
			time.Sleep(delay) // the random moment is what is tested
			killed <- l.KUDO.KillServer()
		}()
		pe, err := l.Kudo.KudoV1beta1().Instances(ns).CreatePlan(ctx, "sample", trigger, metav1.CreateOptions{})
		must(t, <-killed)
		must(t, l.KUDO.StartServer(ctx))
		up := time.Now()
		if err == nil {
			accepted = append(accepted, pe)
			whole(t, record(ctx, t, l, pe).last, 3)
			released(t, l, ns, later(up, time.Now()))
		} else {
			refused++
			// It may have been accepted without our hearing of it.
			l.Unlocked(t, ns, "sample")
		}
		cancel()
		t.Logf("%2d: killed after %4d µs, in order %v after the restart: %v", n, delay.Microseconds(), time.Since(up).Round(time.Millisecond), err)
	})
	t.Logf("%d accepted, %d not answered", len(accepted), refused)
	list, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.planName=short"})
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for _, pe := range list.Items {
		runs[string(pe.UID)]++
		whole(t, &pe, 3)
	}
	for _, pe := range accepted {
		if runs[string(pe.UID)] != 1 {
			t.Errorf("run %s (%s), which was accepted, is there %d times", pe.Name, pe.UID, runs[string(pe.UID)])
		}
	}
	if most := len(accepted) + refused; len(list.Items) > most {
		t.Errorf("%d runs of %d triggers", len(list.Items), most)
	}
}
