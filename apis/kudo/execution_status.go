// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

// IsTerminal tells whether the run, phase or step has ended, well or not.
func (s ExecutionStatus) IsTerminal() bool {
	return s == ExecutionComplete || s == ExecutionFatalError
}

// IsRunning tells whether it is due or has begun, and has not ended.
func (s ExecutionStatus) IsRunning() bool {
	return s == ExecutionPending || s == ExecutionInProgress || s == ErrorStatus
}
