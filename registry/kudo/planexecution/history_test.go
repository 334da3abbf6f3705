// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func runOf(status kudo.PlanExecutionStatus) *kudo.PlanExecution {
	pe := &kudo.PlanExecution{Spec: kudo.PlanExecutionSpec{PlanName: "deploy", Trigger: kudo.TriggerManual, RequestedBy: &kudo.RequestedBy{Username: "alice"}}, Status: status}
	pe.Name, pe.Namespace, pe.UID = "run", "ns", "1"
	return pe
}

// phaseOf is a status with one phase, main, whose steps are written name, status, message.
func phaseOf(run, phase kudo.ExecutionStatus, steps ...[3]string) kudo.PlanExecutionStatus {
	p := kudo.PhaseExecutionStatus{Name: "main", Status: phase}
	for _, s := range steps {
		p.Steps = append(p.Steps, kudo.StepExecutionStatus{Name: s[0], Status: kudo.ExecutionStatus(s[1]), Message: s[2]})
	}
	return kudo.PlanExecutionStatus{Status: run, Phases: []kudo.PhaseExecutionStatus{p}}
}

func withMessages(status kudo.PlanExecutionStatus, run, phase string) kudo.PlanExecutionStatus {
	status.Message, status.Phases[0].Message = run, phase
	return status
}

func texts(log []kudo.PlanExecutionLogEntry) []string {
	p := &logPrinter{plan: "deploy"}
	var all []string
	for i := range log {
		_, line, _ := strings.Cut(p.text(&log[i]), " ")
		all = append(all, line)
	}
	return all
}

const (
	pendingStatus  = kudo.ExecutionPending
	progressStatus = kudo.ExecutionInProgress
	completeStatus = kudo.ExecutionComplete
	failedStatus   = kudo.ExecutionFatalError
)

func TestAppendLog(t *testing.T) {
	pending := phaseOf(pendingStatus, pendingStatus, [3]string{"one", "PENDING"}, [3]string{"two", "PENDING"})
	waiting := withMessages(phaseOf(progressStatus, progressStatus, [3]string{"one", "COMPLETE"}, [3]string{"two", "IN_PROGRESS", "Deployment web:\n1 of 2 ready"}),
		"main.two: Deployment web:\n1 of 2 ready", "two: Deployment web:\n1 of 2 ready")
	for _, tc := range []struct {
		name          string
		before, after *kudo.PlanExecutionStatus
		want          []string
	}{
		{"a new run", nil, &pending, []string{`#1 plan deploy PENDING: requested by "alice" (Manual)`}},
		{"nothing happened", &waiting, &waiting, nil},
		{"what only repeats a step is not repeated", &pending, &waiting, []string{
			`#1 plan deploy PENDING: requested by "alice" (Manual)`,
			"#2 plan deploy IN_PROGRESS",
			"#3 phase main IN_PROGRESS",
			"#4 step main.one COMPLETE",
			"#5 step main.two IN_PROGRESS: Deployment web: 1 of 2 ready",
		}},
		{"a message of the run beside that of a step", &waiting, new(withMessages(*waiting.DeepCopy(), "held by spec.suspend", "")), []string{
			`#1 plan deploy PENDING: requested by "alice" (Manual)`,
			"#2 plan deploy IN_PROGRESS: held by spec.suspend",
		}},
		{"the end comes from below", &waiting, new(phaseOf(completeStatus, completeStatus, [3]string{"one", "COMPLETE"}, [3]string{"two", "COMPLETE"})), []string{
			`#1 plan deploy PENDING: requested by "alice" (Manual)`,
			"#2 step main.two COMPLETE",
			"#3 phase main COMPLETE",
			"#4 plan deploy COMPLETE",
		}},
		{"a failure says why", &waiting, new(withMessages(phaseOf(failedStatus, failedStatus, [3]string{"one", "COMPLETE"}, [3]string{"two", "FATAL_ERROR", "no"}), "main.two: no", "step two failed")), []string{
			`#1 plan deploy PENDING: requested by "alice" (Manual)`,
			"#2 step main.two FATAL_ERROR: no",
			"#3 phase main FATAL_ERROR: step two failed",
			"#4 plan deploy FATAL_ERROR: main.two: no",
		}},
		{"a message is gone", &waiting, new(phaseOf(progressStatus, progressStatus, [3]string{"one", "COMPLETE"}, [3]string{"two", "IN_PROGRESS"})), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before *kudo.PlanExecution
			if tc.before != nil {
				before = runOf(*tc.before)
			}
			after := runOf(*tc.after)
			after.Status.Log = []kudo.PlanExecutionLogEntry{{Sequence: 7, Message: "made up by the writer"}}
			appendLog(before, after, noon)
			if diff := cmp.Diff(tc.want, texts(after.Status.Log)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAppendLogKeepsItsOrder(t *testing.T) {
	before := runOf(phaseOf(progressStatus, progressStatus, [3]string{"one", "IN_PROGRESS"}))
	appendLog(nil, before, noon)
	stored := before.DeepCopy()
	after := runOf(phaseOf(progressStatus, progressStatus, [3]string{"one", "IN_PROGRESS", strings.Repeat("ü", maxLogMessage)}))
	appendLog(before, after, noon.Add(-time.Minute))
	if diff := cmp.Diff(stored, before); diff != "" {
		t.Errorf("the stored run was changed: %s", diff)
	}
	log := after.Status.Log
	if len(log) != 2 || log[1].Time.Before(&log[0].Time) {
		t.Errorf("time runs backward: %v", log)
	}
	if m := log[1].Message; len(m) > maxLogMessage || !utf8.ValidString(m) || !strings.HasSuffix(m, "ü…") {
		t.Errorf("the message has %d bytes and ends with %q", len(m), m[len(m)-8:])
	}
}

// entryAt is an entry as the bound sees it.
func entryAt(sequence int64, step string, status kudo.ExecutionStatus, message string) kudo.PlanExecutionLogEntry {
	return kudo.PlanExecutionLogEntry{Sequence: sequence, Phase: "main", Step: step, Status: status, Message: message}
}

func TestBoundedDropsWhatMattersLeast(t *testing.T) {
	// Each step is tried five times and completes.
	var log []kudo.PlanExecutionLogEntry
	for sequence := int64(1); len(log) < kudo.MaxLogEntries+100; {
		step := fmt.Sprint(len(log) / 6)
		for try := range 5 {
			log = append(log, entryAt(sequence, step, kudo.ErrorStatus, fmt.Sprint("try ", try)))
			sequence++
		}
		log = append(log, entryAt(sequence, step, completeStatus, ""))
		sequence++
	}
	last := lastSequence(log)
	got := bounded(log, last)
	if len(got) != kudo.MaxLogEntries || lastSequence(got) != last {
		t.Fatalf("%d entries to #%d, want %d to #%d", len(got), lastSequence(got), kudo.MaxLogEntries, last)
	}
	if diff := cmp.Diff([]string{"#1 step main.0 ERROR: try 0", "#6 step main.0 COMPLETE", "#7 step main.1 ERROR: try 0"}, texts(got[:3])); diff != "" {
		t.Error(diff)
	}

	var ends []kudo.PlanExecutionLogEntry
	for i := range int64(kudo.MaxLogEntries + 2) {
		ends = append(ends, entryAt(i+1, fmt.Sprint(i), completeStatus, ""))
	}
	if got := bounded(ends, lastSequence(ends)); len(got) != kudo.MaxLogEntries || got[0].Sequence != 3 {
		t.Errorf("%d entries from #%d, want %d from #3", len(got), got[0].Sequence, kudo.MaxLogEntries)
	}

	var long []kudo.PlanExecutionLogEntry
	for i := range int64(kudo.MaxLogEntries) {
		long = append(long, entryAt(i+1, "one", progressStatus, strings.Repeat("x", maxLogMessage)))
	}
	got, size := bounded(long, lastSequence(long)), 0
	for i := range got {
		size += logSize(&got[i])
	}
	if size > maxLogSize || size < maxLogSize-2*maxLogMessage || got[0].Sequence != 1 || lastSequence(got) != kudo.MaxLogEntries {
		t.Errorf("%d entries of %d bytes, #%d to #%d", len(got), size, got[0].Sequence, lastSequence(got))
	}
}

// TestBoundedKeepsWhatIsNew: a log full of ends makes room for what a step waits for now, so that whoever keeps up misses nothing.
func TestBoundedKeepsWhatIsNew(t *testing.T) {
	var log []kudo.PlanExecutionLogEntry
	for i := range int64(kudo.MaxLogEntries) {
		log = append(log, entryAt(i+1, fmt.Sprint(i), completeStatus, ""))
	}
	for write := range int64(3) {
		known := lastSequence(log)
		for i := range int64(10) {
			log = append(log, entryAt(known+i+1, "waiting", progressStatus, fmt.Sprint(write, i)))
		}
		if log = bounded(log, known); len(log) != kudo.MaxLogEntries || log[len(log)-10].Sequence != known+1 {
			t.Fatalf("write %d: %d entries, the last ten from #%d", write, len(log), log[len(log)-10].Sequence)
		}
	}
	// The ends make room once: later writes drop what the earlier ones said of the step that waits.
	if log[0].Sequence != 12 {
		t.Errorf("the log begins with #%d, want #12", log[0].Sequence)
	}
	fresh := make([]kudo.PlanExecutionLogEntry, 0, 2*kudo.MaxLogEntries)
	for i := range int64(2 * kudo.MaxLogEntries) {
		fresh = append(fresh, entryAt(i+1, fmt.Sprint(i), progressStatus, ""))
	}
	if log = bounded(fresh, 0); len(log) != kudo.MaxLogEntries || lastSequence(log) != 2*kudo.MaxLogEntries {
		t.Errorf("of one write larger than the log %d entries stay, to #%d", len(log), lastSequence(log))
	}
}
