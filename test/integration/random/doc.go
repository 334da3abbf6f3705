// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package random lets clients do random things with Instances, while the processes of KUDO are killed at random moments, and has
// package history decide whether everything that was answered and seen fits together.
//
// KUDO_SEED repeats the draws of an earlier test. Since processes and clients do not take the same time twice, that makes the same
// kinds of things happen, not the same things.
package random
