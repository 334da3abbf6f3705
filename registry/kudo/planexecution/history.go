// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
)

const (
	// maxLogMessage is the longest message of an entry, in bytes. The status has the whole message.
	maxLogMessage = 1 << 10
	// maxLogSize bounds all entries together, in bytes as logSize counts them: the log must not be what makes a run larger than the
	// storage takes.
	maxLogSize = 256 << 10
	// entryOverhead is about what the numbers of an entry take.
	entryOverhead = 32
)

// appendLog makes status.log of after that of before with what happened between the two, whatever after has there. It is a function
// of what is stored, called inside the guaranteed update by every write of the status, so all who read the log see the same
// entries. before is nil for a new run. Where nothing happened the log stays as it is, so that a write that changes nothing stores
// nothing.
func appendLog(before, after *kudo.PlanExecution, now time.Time) {
	var log, entries []kudo.PlanExecutionLogEntry
	if before != nil {
		log = before.Status.Log
		if entries = changes(&before.Status, &after.Status); len(entries) == 0 {
			after.Status.Log = log
			return
		}
	}
	if len(log) == 0 {
		entries = slices.Insert(entries, 0, created(after))
	}
	sequence := lastSequence(log)
	at := metav1.NewMicroTime(now.UTC().Truncate(time.Microsecond))
	if len(log) > 0 && at.Before(&log[len(log)-1].Time) {
		at = log[len(log)-1].Time // the clock of this server is behind that of another
	}
	for i := range entries {
		sequence++
		entries[i].Sequence, entries[i].Time, entries[i].Message = sequence, at, cut(entries[i].Message)
	}
	after.Status.Log = bounded(slices.Concat(log, entries), sequence-int64(len(entries)))
}

// lastSequence is the end of a log; an entry keeps its number when older ones are dropped.
func lastSequence(log []kudo.PlanExecutionLogEntry) int64 {
	if len(log) == 0 {
		return 0
	}
	return log[len(log)-1].Sequence
}

// cut shortens a message.
func cut(message string) string {
	const more = "…"
	if len(message) <= maxLogMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxLogMessage-len(more)], "") + more
}

func logSize(e *kudo.PlanExecutionLogEntry) int {
	return entryOverhead + len(e.Phase) + len(e.Step) + len(e.Status) + len(e.Message)
}

// bounded drops entries until the log is as short as it must be: first the oldest that only changed what something waited for, then
// the oldest. What came after the entry known, in the write that is going on, is dropped last, so that a reader who keeps up sees every
// entry at least once. The newest stays in any case. It may change the slice.
func bounded(log []kudo.PlanExecutionLogEntry, known int64) []kudo.PlanExecutionLogEntry {
	count, size := len(log), 0
	for i := range log {
		size += logSize(&log[i])
	}
	last := lastSequence(log)
	for _, pass := range []struct{ fresh, any bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		repeated := repeats()
		log = slices.DeleteFunc(log, func(e kudo.PlanExecutionLogEntry) bool {
			drop := (repeated(&e) || pass.any) && (e.Sequence > known) == pass.fresh && e.Sequence != last
			if !drop || (count <= kudo.MaxLogEntries && size <= maxLogSize) {
				return false
			}
			count--
			size -= logSize(&e)
			return true
		})
	}
	return log
}

// repeats tells of the entries of a log, asked in their order, which have the status that the same place had before and is not its
// end.
func repeats() func(*kudo.PlanExecutionLogEntry) bool {
	was := map[place]kudo.ExecutionStatus{}
	return func(e *kudo.PlanExecutionLogEntry) bool {
		at := place{e.Phase, e.Step}
		same := was[at] == e.Status && !e.Status.IsTerminal()
		was[at] = e.Status
		return same
	}
}
