// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package upgrade replaces the programs of a KUDO that runs by those of the next commit, on the same data, and back. It
// tests what docs/operations.md promises: whatever a server stored is read by the next one, and runs go on where they were.
//
// The older programs are built from the repository's history; where there is none the test is skipped and says so.
package upgrade
