// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// turn is how many requests each client sends before it is the next variant's turn: few, so that all variants meet the same
	// weather.
	turn = 4
	// warmup is how many rounds are not counted: connections are made, caches filled, and the executor comes under load.
	warmup = 8
)

// variant is one of the things that are compared.
type variant struct {
	name string
	// prepare makes n requests, off the clock.
	prepare func(b *testing.B, n int) []request
	times   []time.Duration
}

// request is sent by one of the clients.
type request func(ctx context.Context, c client) error

// compare measures the variants in turns with this many clients at once, and reports the median and the 90th percentile of each in
// milliseconds, and the ratio of each median to that of the first.
func compare(b *testing.B, clients []client, variants ...*variant) {
	b.Helper()
	for range warmup {
		round(b, clients, variants)
	}
	for _, v := range variants {
		v.times = nil
	}
	for b.Loop() {
		round(b, clients, variants)
	}
	b.ReportMetric(0, "ns/op") // of a round, which says nothing
	base := percentile(variants[0].times, 50)
	b.ReportMetric(float64(len(variants[0].times)), "samples")
	for n, v := range variants {
		b.ReportMetric(milliseconds(percentile(v.times, 50)), v.name+"-p50-ms")
		b.ReportMetric(milliseconds(percentile(v.times, 90)), v.name+"-p90-ms")
		if n > 0 {
			b.ReportMetric(float64(percentile(v.times, 50))/float64(base), v.name+"/"+variants[0].name)
		}
	}
}

// round gives each variant its turn.
func round(b *testing.B, clients []client, variants []*variant) {
	b.Helper()
	for _, v := range variants {
		b.StopTimer()
		requests := v.prepare(b, len(clients)*turn)
		b.StartTimer()
		times := make([]time.Duration, len(requests))
		errs := make([]error, len(clients))
		var group sync.WaitGroup
		for n, c := range clients {
			group.Go(func() {
				for r := n * turn; r < (n+1)*turn && errs[n] == nil; r++ {
					begin := time.Now()
					errs[n] = requests[r](b.Context(), c)
					times[r] = time.Since(begin)
				}
			})
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				b.Fatalf("%s: %v", v.name, err)
			}
		}
		v.times = append(v.times, times...)
	}
}

// percentile is the smallest time that is not exceeded by so many per cent of all.
func percentile(times []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[(len(sorted)*percent+99)/100-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
