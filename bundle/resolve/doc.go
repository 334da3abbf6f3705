// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package resolve finds the child operators that a package names in its KudoOperator tasks, and theirs in turn.
//
// It may import apis and bundle; it may be imported by bundle/verify and cli. What is installed in a cluster it asks
// through an interface, so that it needs no client.
package resolve
