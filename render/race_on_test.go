// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build race

package render

// raceDetector says that the race detector is in the program: it allocates memory of its own, which tests that measure it leave out.
const raceDetector = true
