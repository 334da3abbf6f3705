// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package lock is the protocol by which one run owns an Instance, as pure functions on the hub types.
//
// The Instance holds the lock in spec.planExecution, because one key of etcd can be changed atomically. Whoever starts a run
// calls Take inside one guaranteed update of the Instance; the PlanExecution then follows from the lock (Execution), with the
// same uid. What the executor reports is copied into the Instance by Record, which releases the lock in the same write that
// records the end of the run. Every call names the uid, so that a run that does not hold the lock changes nothing.
//
// It may import the hub types only.
package lock
