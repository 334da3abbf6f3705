// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package streams

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// followers is how many read one run at the same time.
const followers = 1000

// TestManyFollowers: all who follow a run get the same lines, and all their streams end with it.
func TestManyFollowers(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 40)
	c := admin(t, l)
	ctx := patient(t)
	var began, ended sync.WaitGroup
	got := make([]string, followers)
	errs := make(chan error, followers)
	for i := range followers {
		began.Add(1)
		ended.Go(func() {
			start := sync.OnceFunc(began.Done)
			defer start()
			var all strings.Builder
			if err := c.follow(ctx, pe, 0, func(l *line) bool {
				start()
				all.WriteString(l.raw + "\n")
				return true
			}); err != nil {
				errs <- fmt.Errorf("follower %d: %w", i, err)
			}
			got[i] = all.String()
		})
	}
	begin := time.Now()
	began.Wait()
	t.Logf("%d followers read after %v", followers, time.Since(begin).Round(time.Millisecond))
	resume(t, l, pe)
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	begin = time.Now()
	ended.Wait()
	t.Logf("the last stream ended %v after the run", time.Since(begin).Round(time.Millisecond))
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
	want := whole(t, c, pe)
	for i := range got {
		if got[i] != want {
			t.Fatalf("follower %d got\n%s\nwant\n%s", i, got[i], want)
		}
	}
	t.Logf("%d lines each", strings.Count(want, "\n"))
}

// pieces reads a log in pieces of random length until the run has ended, and counts them.
func pieces(ctx context.Context, c *client, pe *v1beta1.PlanExecution, r *rand.Rand) (log string, n int, err error) {
	var all strings.Builder
	var last line
	for !last.over() {
		if ctx.Err() != nil {
			return all.String(), n, context.Cause(ctx)
		}
		left := r.IntN(12)
		var gap error
		err := c.follow(ctx, pe, last.Sequence, func(l *line) bool {
			switch {
			case l.Notice == v1beta1.LogNoticeServerStopping:
				return true
			case l.Sequence != last.Sequence+1:
				gap = fmt.Errorf("after #%d came %s", last.Sequence, l.raw)
				return false
			}
			last = *l
			all.WriteString(l.raw + "\n")
			left--
			return left > 0
		})
		if gap != nil {
			return all.String(), n, gap
		}
		if err != nil { // the server is away
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
			continue
		}
		n++
	}
	return all.String(), n, nil
}

// TestReconnect: whoever comes back with the number of the last entry misses nothing and reads nothing twice, also when the server is
// killed meanwhile.
func TestReconnect(t *testing.T) {
	l := room.Enter(t)
	for name, kills := range map[string]int{"at random": 0, "while the server is killed": 2} {
		t.Run(name, func(t *testing.T) {
			pe := held(t, l, 60)
			c := admin(t, l)
			ctx := patient(t)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			const readers = 10
			var group sync.WaitGroup
			var got [readers]string
			for i := range readers {
				group.Go(func() {
					all, n, err := pieces(ctx, c, pe, rand.New(rand.NewPCG(seed, uint64(i))))
					if err != nil {
						t.Errorf("reader %d after %d pieces: %v\n%s", i, n, err, all)
					}
					got[i] = all
				})
			}
			resume(t, l, pe)
			for kill := range kills {
				l.Run(t, pe, "to advance", func(pe *v1beta1.PlanExecution) bool {
					return lab.Step(t, pe, fmt.Sprintf("s%03d", 5+20*kill)).Status == v1beta1.ExecutionComplete
				})
				must(t, l.KUDO.KillServer())
				must(t, l.KUDO.StartServer(t.Context()))
			}
			l.Ended(t, pe, v1beta1.ExecutionComplete)
			group.Wait()
			want := whole(t, c, pe)
			for i := range got {
				if got[i] != want {
					t.Errorf("reader %d read\n%s\nwant\n%s", i, got[i], want)
				}
			}
		})
	}
}

// TestNobodyElseWritesTheLog: what a writer of the status says of the log is dropped, whatever the kind of the write.
func TestNobodyElseWritesTheLog(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 1)
	withoutExecutor(t, l)
	runs := l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace)
	before, err := runs.Get(t.Context(), pe.Name, metav1.GetOptions{})
	must(t, err)
	if len(before.Status.Log) == 0 || !strings.Contains(before.Status.Log[0].Message, `requested by "admin" (Manual)`) {
		t.Fatalf("the log is %+v", before.Status.Log)
	}
	const made = `[{"sequence":1,"time":"2020-01-01T00:00:00.000000Z","message":"made up"},{"sequence":99,"time":"2020-01-01T00:00:00.000000Z","message":"made up"}]`
	after := report(t, l, pe, `{"message":"first","log":`+made+`}`)
	update := after.DeepCopy()
	update.Status.Log, update.Status.Message = nil, "second"
	_, err = runs.UpdateStatus(t.Context(), update, metav1.UpdateOptions{})
	must(t, err)
	apply := fmt.Sprintf(`{"apiVersion":"kudo.dev/v1beta1","kind":"PlanExecution","metadata":{"name":%q},"status":{"message":"third","log":%s}}`, pe.Name, made)
	after, err = runs.Patch(t.Context(), pe.Name, types.ApplyPatchType, []byte(apply), metav1.PatchOptions{FieldManager: "test", Force: new(true)}, "status")
	must(t, err)
	if got, want := len(after.Status.Log), len(before.Status.Log)+3; got != want {
		t.Fatalf("%d entries, want %d: %+v", got, want, after.Status.Log)
	}
	for i, e := range after.Status.Log {
		if e.Sequence != int64(i+1) || e.Message == "made up" || (i < len(before.Status.Log) && e != before.Status.Log[i]) {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	for _, m := range after.ManagedFields {
		if strings.Contains(string(m.FieldsV1.GetRawBytes()), `"f:log"`) {
			t.Errorf("%s owns the log", m.Manager)
		}
	}
	same := report(t, l, pe, `{"message":"third"}`)
	if same.ResourceVersion != after.ResourceVersion {
		t.Error("a report of nothing new was stored")
	}
}

// TestOptions: both formats, and answers that say what was wrong.
func TestOptions(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 1)
	c := admin(t, l)
	has(t, c.text(t, path(pe, "/log")), `#1 plan work PENDING: requested by "admin" (Manual)`)
	for _, accept := range []string{"text/plain", "application/x-ndjson", "application/json", "*/*"} {
		has(t, c.text(t, path(pe, "/log?format=json"), accept), `{"sequence":1,"time":"`)
	}
	for query, want := range map[string][]string{
		"format=xml":                  {"400", "format: Unsupported value", "json", "text"},
		"sinceSequence=-1":            {"400", "sinceSequence: Invalid value: -1", "must not be negative"},
		"sinceSequence=abc":           {"400", "sinceSequence: Invalid value", "whole number"},
		"follow=true&sinceSequence=9": {"400", "sinceSequence: Invalid value: 9", "another run", string(pe.UID)},
	} {
		if body, err := c.open(patient(t), path(pe, "/log?"+query)); err == nil {
			body.Close()
			t.Errorf("%s is answered", query)
		} else {
			has(t, err.Error(), want...)
		}
	}
	other := pe.DeepCopy()
	other.Name = "none"
	if _, err := c.open(patient(t), path(other, "/log?follow=true")); err == nil || !strings.Contains(err.Error(), fmt.Sprint(http.StatusNotFound)) {
		t.Errorf("got %v, want 404", err)
	}
}
