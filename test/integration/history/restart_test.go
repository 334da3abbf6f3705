// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestKillWhilePruning: the server is killed when it has begun to delete what is surplus; the next one goes on. One that is killed
// before it has begun does not even know that a limit was changed.
func TestKillWhilePruning(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, quick())
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":100}}`)
	names := ran(t, l, ns, "well", 40)
	runs := stored(t, l, ns, names...)
	client := l.Kudo.KudoV1beta1().PlanExecutions(ns)
	w, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: latest(t, l, ns)})
	if err != nil {
		t.Fatal(err)
	}
	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":5}}`)
	patience := time.After(lab.Patience)
	for deleted := false; !deleted; {
		select {
		case e := <-w.ResultChan():
			deleted = e.Type == watch.Deleted
		case <-patience:
			t.Fatal("nothing is deleted")
		}
	}
	restart(t, l)
	w.Stop()
	if list, err := client.List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Logf("%d of %d runs when the server was back", len(list.Items), len(runs))
	}
	begin := time.Now()
	stored(t, l, ns, names[35:]...)
	soon(t, begin)

	patch(t, l, ns, `{"spec":{"successfulRunsHistoryLimit":1}}`)
	restart(t, l)
	stored(t, l, ns, names[39:]...)
	if pe := l.Trigger(t, ns, "well"); pe != nil {
		ended(t, l, pe, v1beta1.ExecutionComplete)
		stored(t, l, ns, pe.Name)
	}
}

// latest is the version of the list of runs.
func latest(t *testing.T, l *lab.Lab, ns string) string {
	t.Helper()
	list, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.ResourceVersion
}

// restart kills the server and starts it again.
func restart(t *testing.T, l *lab.Lab) {
	t.Helper()
	if err := l.KUDO.KillServer(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
	defer cancel()
	if err := l.KUDO.StartServer(ctx); err != nil {
		t.Fatal(err)
	}
}
