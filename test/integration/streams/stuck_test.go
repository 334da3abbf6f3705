// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
	// Reports that log as much as no buffer between the server and a client holds.
	loudSteps   = 100
	loudReports = 150
	// lag is by how many reports a reader who is not stuck may be late.
	lag = 20
)

// loud is a status in which each of many steps waits for something new.
func loud(t *testing.T, run v1beta1.ExecutionStatus, n int) string {
	t.Helper()
	phase := v1beta1.PhaseExecutionStatus{Name: "main", Status: v1beta1.ExecutionInProgress}
	for i := range loudSteps {
		phase.Steps = append(phase.Steps, v1beta1.StepExecutionStatus{Name: fmt.Sprintf("s%03d", i), Status: v1beta1.ExecutionInProgress,
			Message: fmt.Sprintf("waits for %d %s", n, strings.Repeat("x", 1000))})
	}
	data, err := json.Marshal(map[string]any{"status": run, "phases": []any{phase}})
	must(t, err)
	return string(data)
}

// TestStuckReader: a client that does not read slows down neither the run nor the others, and when it reads on it gets what is kept
// and is told what is not.
func TestStuckReader(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, loudSteps)
	withoutExecutor(t, l)
	c := admin(t, l)
	ctx := patient(t)
	stuck, err := c.open(ctx, path(pe, "/log?follow=true&format=json"))
	must(t, err)
	defer stuck.Close()

	var other []*line
	var seen atomic.Int64 // the report that the other reader has come to
	began, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- c.follow(ctx, pe, 0, func(l *line) bool {
			if other = append(other, l); len(other) == 1 {
				close(began)
			}
			var n int64
			if _, err := fmt.Sscanf(l.Message, "waits for %d ", &n); err == nil {
				seen.Store(n)
			}
			return true
		})
	}()
	<-began
	begin := time.Now()
	for n := range loudReports {
		report(t, l, pe, loud(t, v1beta1.ExecutionInProgress, n))
		for seen.Load() < int64(n-lag) {
			select {
			case <-ctx.Done():
				t.Fatalf("the other reader stays behind at report %d of %d: %v", seen.Load(), n, context.Cause(ctx))
			case <-time.After(time.Millisecond):
			}
		}
	}
	report(t, l, pe, loud(t, v1beta1.ExecutionFatalError, loudReports))
	t.Logf("%d reports took %v", loudReports+1, time.Since(begin).Round(time.Millisecond))
	select {
	case err := <-done:
		must(t, err)
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	}
	if dropped := accounted(t, other); dropped > 0 {
		t.Errorf("the other reader missed %d entries", dropped)
	}

	// Only now is anything read of the other stream.
	var late []*line
	must(t, lines(stuck, func(l *line) bool {
		late = append(late, l)
		return true
	}))
	if accounted(t, late) == 0 {
		t.Error("the reader was never stuck: nothing was dropped")
	}
	t.Logf("%d lines were read in time, %d late", len(other), len(late))
}

// accounted checks that the lines are those of a whole run, in order, with every entry that is missing announced; it returns how many
// those are.
func accounted(t *testing.T, all []*line) int64 {
	t.Helper()
	var sequence, entries, dropped int64
	for _, l := range all {
		dropped += l.Dropped
		if l.Notice != "" {
			continue
		}
		if l.Sequence <= sequence {
			t.Fatalf("after #%d: %.200s", sequence, l.raw)
		}
		sequence, entries = l.Sequence, entries+1
	}
	if len(all) == 0 || !all[len(all)-1].over() || entries+dropped != sequence {
		t.Fatalf("%d entries to #%d and %d dropped", entries, sequence, dropped)
	}
	return dropped
}

// TestStopWithFollowers: a server that is told to stop tells all who follow, does not wait for one who does not read, and they read
// on from the next one.
func TestStopWithFollowers(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, loudSteps)
	withoutExecutor(t, l)
	c := admin(t, l)
	ctx := patient(t)
	stuck, err := c.open(ctx, path(pe, "/log?follow=true&format=json"))
	must(t, err)
	defer stuck.Close()
	watched := watchStatus(ctx, c, pe, "")
	const readers, reports = 20, 100
	read := make(chan []*line, readers)
	last := fmt.Sprintf("waits for %d ", reports-1)
	ready := make(chan struct{}, readers)
	for range readers {
		go func() {
			var all []*line
			if err := c.follow(ctx, pe, 0, func(l *line) bool {
				if all = append(all, l); l.Step == fmt.Sprintf("s%03d", loudSteps-1) && strings.HasPrefix(l.Message, last) {
					ready <- struct{}{}
				}
				return true
			}); err != nil {
				t.Errorf("a stream broke: %v", err)
			}
			read <- all
		}()
	}
	for n := range reports {
		report(t, l, pe, loud(t, v1beta1.ExecutionInProgress, n))
	}
	for range readers {
		select {
		case <-ready:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
	stop, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	begin := time.Now()
	if err := l.KUDO.StopServer(stop); err != nil {
		must(t, l.KUDO.KillServer())
		t.Errorf("the server runs %v after SIGTERM: %v", time.Since(begin), err)
	}
	t.Logf("stopped after %v", time.Since(begin).Round(time.Millisecond))
	must(t, l.KUDO.StartServer(t.Context()))
	report(t, l, pe, `{"status":"FATAL_ERROR","message":"enough"}`)
	var rest []*line
	for i := range readers {
		all := <-read
		end := all[len(all)-1]
		if end.Notice != v1beta1.LogNoticeServerStopping || end.SinceSequence != all[len(all)-2].Sequence {
			t.Fatalf("reader %d: the stream ended with %.300s", i, end.raw)
		}
		has(t, end.Message, fmt.Sprintf("sinceSequence=%d", end.SinceSequence))
		if i == 0 {
			must(t, c.follow(ctx, pe, end.SinceSequence, func(l *line) bool { rest = append(rest, l); return true }))
		}
		accounted(t, append(all[:len(all)-1:len(all)-1], rest...))
	}
	if err := lines(stuck, func(l *line) bool {
		if l.Notice == v1beta1.LogNoticeServerStopping {
			t.Error("the reader was never stuck: it was told of the end")
		}
		return true
	}); err != nil {
		t.Logf("the stream that nobody read was cut: %v", err)
	}
	got := <-watched
	if got.err != nil || got.why() != v1beta1.StreamEndedServerStopping {
		t.Errorf("the watch ended with %q: %v", got.why(), got.err)
	}
}
