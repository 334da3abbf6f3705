// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/random/history"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestCrashRandomOperations: clients do random things with Instances while server and executor are killed again and again. Whatever
// was answered holds, and no state is seen that must not be.
func TestCrashRandomOperations(t *testing.T) {
	operations, budget := 1500, time.Minute
	if os.Getenv("KUDO_E2E") != "" {
		operations, budget = 10000, 8*time.Minute
	}
	l := room.Enter(t)
	seed := seed(t)
	s := newStage(t, l, operations, budget)
	end := s.observe(t.Context())
	begin := time.Now()
	k := &killer{stage: s, r: rand.New(rand.NewPCG(seed, 0))}
	all := work(t, s, k, seed)
	worked := time.Since(begin)
	all[0].settle(t)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	log := s.log(t)
	t.Logf("%d operations in %v, at rest after %v more; server killed %d times, executor %d times; %d writes of objects",
		len(log.Operations), worked.Round(time.Second), (time.Since(begin) - worked).Round(time.Second), k.server, k.executor, len(log.Writes))
	t.Log(tally(log))
	if s.next < operations {
		t.Logf("%d of %d operations in %v; that is enough", s.next, operations, budget)
	}
	complain(t, l, log, history.Check(log))
	if !t.Failed() {
		forged(t, log)
	}
}

// seed is what everything is drawn from.
func seed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("KUDO_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("KUDO_SEED=%d", seed)
	return seed
}

// work lets the clients work under the eyes of the killer.
func work(t *testing.T, s *stage, k *killer, seed uint64) []*client {
	t.Helper()
	var working sync.WaitGroup
	var all []*client
	for n := range clients {
		kudo, err := s.client(clientName(n))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &client{name: clientName(n), stage: s, r: rand.New(rand.NewPCG(seed, uint64(n+1))), kudo: kudo})
	}
	done := make(chan struct{})
	killed := make(chan error, 1)
	go func() { killed <- k.run(t.Context(), done) }()
	for _, c := range all {
		working.Go(func() { c.run(t.Context()) })
	}
	working.Wait()
	close(done)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	return all
}

// settle waits until nothing is locked, runs, or is being deleted, and brings to an end what would not end by itself. It does not
// fail when that takes too long: the history tells better what hangs.
func (c *client) settle(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
	defer cancel()
	done := map[string]bool{}
	for {
		c.stage.view.mu.Lock()
		changed := c.stage.view.changed
		c.stage.view.mu.Unlock()
		left := c.tidy(ctx, done)
		if left == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Logf("%d Instances and runs are not at rest: %v", left, context.Cause(ctx))
			return
		}
	}
}

// tally counts operations by kind and outcome.
func tally(log *history.Log) string {
	counts := map[string]map[history.Outcome]int{}
	var kinds []string
	for _, o := range log.Operations {
		kind := string(o.Kind)
		if counts[kind] == nil {
			counts[kind] = map[history.Outcome]int{}
			kinds = append(kinds, kind)
		}
		counts[kind][o.Outcome]++
	}
	out := "accepted, refused, unknown:"
	for _, kind := range kinds {
		n := counts[kind]
		out += fmt.Sprintf(" %s %d,%d,%d;", kind, n[history.Accepted], n[history.Refused], n[history.Unknown])
	}
	return out
}

// shown is how many complaints are explained.
const shown = 5

// complain fails the test with what is wrong, and keeps all operations beside the logs of the cluster.
func complain(t *testing.T, l *lab.Lab, log *history.Log, found []history.Violation) {
	t.Helper()
	if len(found) == 0 {
		return
	}
	var lines strings.Builder
	for i := range log.Operations {
		fmt.Fprintln(&lines, &log.Operations[i])
	}
	path := filepath.Join(l.Cluster.Dir(), "log", "operations.txt")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Error(err)
	}
	byRule := map[history.Rule]int{}
	for n, v := range found {
		if byRule[v.Rule]++; byRule[v.Rule] <= 2 && n < 20 || n < shown {
			t.Errorf("%s\n%s", v, history.Explain(log, v))
		}
	}
	t.Errorf("%d complaints: %v; all operations are in %s", len(found), byRule, path)
}
