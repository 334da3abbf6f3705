// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package lab gives tests of runs a cluster with KUDO, operators in a few lines, and ways to wait for what happens.
// Nothing here polls: a test follows an object by a watch that outlives restarts of the server.
//
// Tests below test/integration may import it.
package lab
