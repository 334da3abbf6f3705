// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package history keeps the history of an Instance bounded: it deletes the oldest runs beyond the limits of the Instance, and the
// revisions of its OperatorVersion that no run needs any more.
//
// What is to go is decided by functions without side effects (surplus.go, unused.go); Pruner reads, asks them and deletes
// (pruner.go). The package keeper says when. Any number of servers may prune the same Instance at the same time: each deletion names
// the uid of what was looked at.
//
// It may import the hub types, the generic registry and the packages lock and revision.
package history
