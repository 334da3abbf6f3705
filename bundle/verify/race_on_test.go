// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build race

package verify_test

// raceDetector says that the race detector runs, which multiplies what a process takes.
const raceDetector = true
