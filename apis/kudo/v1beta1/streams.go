// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

// StreamEndedAnnotation is on the object of the last event of a watch of the status of one run. Its value says why the stream has
// ended. The event is of the type BOOKMARK; the resourceVersion of its object is where the stream can be resumed.
const StreamEndedAnnotation = "kudo.dev/stream-ended"

// Why a watch of the status of a run has ended.
const (
	// StreamEndedRunEnded means that the run has ended; there is nothing to resume.
	StreamEndedRunEnded = "RunEnded"
	// StreamEndedDeleted means that the PlanExecution was deleted; there is nothing to resume.
	StreamEndedDeleted = "Deleted"
	// StreamEndedTimeLimit means that the time of the stream was over.
	StreamEndedTimeLimit = "TimeLimit"
	// StreamEndedServerStopping means that the server stops.
	StreamEndedServerStopping = "ServerStopping"
	// StreamEndedInterrupted means that the server could not go on, for example because the client reads too slowly.
	StreamEndedInterrupted = "Interrupted"
)

// Notices in the log of a run, in JSON: the field "notice" of a line that is not a PlanExecutionLogEntry.
const (
	// LogNoticeEntriesDropped means that entries which the client asked for are not kept any more; the field "dropped" is how many.
	LogNoticeEntriesDropped = "EntriesDropped"
	// LogNoticeDeleted means that the PlanExecution was deleted; the stream ends.
	LogNoticeDeleted = "Deleted"
	// LogNoticeServerStopping means that the server stops and the stream ends; follow again with the sinceSequence of the notice.
	LogNoticeServerStopping = "ServerStopping"
)
