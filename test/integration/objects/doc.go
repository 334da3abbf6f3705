// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package objects holds tests of what runs do to objects in a cluster: what is on record of them, what is deleted when no template has it
// any more, what goes with the Instance, and what becomes of objects that others made or that cannot be changed.
package objects
