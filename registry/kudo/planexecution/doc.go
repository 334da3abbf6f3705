// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package planexecution stores PlanExecutions and serves their subresources status and log.
//
// A PlanExecution is created after its Instance was locked for it, with the uid that the lock carries; that is why creation
// takes the lock as its very last check (create.go). What the executor reports through status is copied into the Instance,
// which releases the lock when the run has ended (status.go).
//
// Every write of the status appends to status.log what it changed (history.go, diff.go). The subresource log streams that
// (logstream.go), and the subresource status can be watched (statuswatch.go).
//
// It may import the hub types, their validation, the generic registry and the packages instance, lock, revision and store.
package planexecution
