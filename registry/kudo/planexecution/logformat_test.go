// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func printed(t *testing.T, log []kudo.PlanExecutionLogEntry, asJSON bool, since int64) string {
	t.Helper()
	var out bytes.Buffer
	if err := (&logPrinter{out: &out, json: asJSON, plan: "deploy", sequence: since}).entries(log); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFormats(t *testing.T) {
	at := metav1.NewMicroTime(noon.Add(1500 * time.Millisecond))
	log := []kudo.PlanExecutionLogEntry{
		{Sequence: 1, Time: at, Status: pendingStatus, Message: `requested by "alice" (Manual)`},
		{Sequence: 2, Time: at, Phase: "main", Status: progressStatus},
		{Sequence: 3, Time: at, Phase: "main", Step: "one", Status: kudo.ErrorStatus, Message: "a < b\n\tand more"},
	}
	wantText := "2026-11-20T12:00:01Z #1 plan deploy PENDING: requested by \"alice\" (Manual)\n" +
		"2026-11-20T12:00:01Z #2 phase main IN_PROGRESS\n" +
		"2026-11-20T12:00:01Z #3 step main.one ERROR: a < b and more\n"
	if diff := cmp.Diff(wantText, printed(t, log, false, 0)); diff != "" {
		t.Error(diff)
	}
	wantJSON := `{"sequence":1,"time":"2026-11-20T12:00:01.500000Z","status":"PENDING","message":"requested by \"alice\" (Manual)"}` + "\n" +
		`{"sequence":2,"time":"2026-11-20T12:00:01.500000Z","phase":"main","status":"IN_PROGRESS"}` + "\n" +
		`{"sequence":3,"time":"2026-11-20T12:00:01.500000Z","phase":"main","step":"one","status":"ERROR","message":"a < b\n\tand more"}` + "\n"
	if diff := cmp.Diff(wantJSON, printed(t, log, true, 0)); diff != "" {
		t.Error(diff)
	}
	if got := printed(t, log, false, 3); got != "" {
		t.Errorf("a reader that has all got %q", got)
	}
}

func TestDroppedEntriesAreAnnounced(t *testing.T) {
	log := []kudo.PlanExecutionLogEntry{entryAt(1, "a", completeStatus, ""), entryAt(4, "b", completeStatus, ""), entryAt(5, "c", completeStatus, "")}
	first, _, _ := strings.Cut(printed(t, log, true, 1), "\n")
	var got notice
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	if got.Notice != v1beta1.LogNoticeEntriesDropped || got.Dropped != 2 || got.SinceSequence != 1 || got.Message == "" {
		t.Errorf("the first line is %s", first)
	}
	if first, _, _ := strings.Cut(printed(t, log, false, 0), "\n"); !strings.Contains(first, "2 entries after #0 are not kept any more") {
		t.Errorf("the first line is %q", first)
	}
	if got := printed(t, log, false, 4); strings.Count(got, "\n") != 1 {
		t.Errorf("nothing is missing after #4, but the log is %q", got)
	}
}

// TestAnySplitGivesTheSame draws random runs: the log is gapless, what is in it never changes, and whoever reads it in pieces, at
// whatever moments, has read the same.
func TestAnySplitGivesTheSame(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		pe := runOf(randomStatus(r))
		appendLog(nil, pe, noon)
		pieces := &bytes.Buffer{}
		reader := &logPrinter{out: pieces, json: true, plan: "deploy"}
		for change := range 60 {
			next := pe.DeepCopy()
			next.Status = randomStatus(r)
			next.Status.Log = nil
			appendLog(pe, next, noon.Add(time.Duration(change)*time.Second))
			if !slices.Equal(pe.Status.Log, next.Status.Log[:len(pe.Status.Log)]) {
				t.Fatalf("seed %d: entries changed", seed)
			}
			pe = next
			if r.IntN(3) == 0 {
				if err := reader.entries(pe.Status.Log); err != nil {
					t.Fatal(err)
				}
				reader = &logPrinter{out: pieces, json: true, plan: "deploy", sequence: reader.sequence}
			}
		}
		if err := reader.entries(pe.Status.Log); err != nil {
			t.Fatal(err)
		}
		for i, e := range pe.Status.Log {
			if e.Sequence != int64(i+1) {
				t.Fatalf("seed %d: entry %d has sequence %d", seed, i, e.Sequence)
			}
		}
		whole := printed(t, pe.Status.Log, true, 0)
		if diff := cmp.Diff(whole, pieces.String()); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		at := r.IntN(len(pe.Status.Log) + 1)
		if got := printed(t, pe.Status.Log[:at], true, 0) + printed(t, pe.Status.Log, true, int64(at)); got != whole {
			t.Fatalf("seed %d: split at %d it is another log", seed, at)
		}
	}
}

func randomStatus(r *rand.Rand) kudo.PlanExecutionStatus {
	statuses := []kudo.ExecutionStatus{pendingStatus, progressStatus, kudo.ErrorStatus, completeStatus, failedStatus}
	word := func() string {
		if r.IntN(2) == 0 {
			return ""
		}
		return fmt.Sprint("waits ", r.IntN(3))
	}
	out := kudo.PlanExecutionStatus{Status: statuses[r.IntN(3)], Message: word()}
	for p := range 2 {
		phase := kudo.PhaseExecutionStatus{Name: fmt.Sprint("p", p), Status: statuses[r.IntN(5)], Message: word()}
		for s := range 3 {
			phase.Steps = append(phase.Steps, kudo.StepExecutionStatus{Name: fmt.Sprint("s", s), Status: statuses[r.IntN(5)], Message: word()})
		}
		out.Phases = append(out.Phases, phase)
	}
	return out
}
