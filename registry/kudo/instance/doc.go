// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package instance stores Instances and serves their subresources status and plans.
//
// A write that starts a plan is decided inside one guaranteed update of the Instance (decide_*.go): the stored object is
// compared with the wanted one, the plan chosen, and the lock taken. The run itself follows from the lock; the package
// that stores runs is reached through the interface Runs.
//
// It may import the hub types, their validation, the generic registry and the packages lock, revision and store.
package instance
