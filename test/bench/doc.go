// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package bench measures what users wait for, against the same on plain Kubernetes in the same run and on the same control plane.
// The first variant of each benchmark is the baseline; make bench prints the others as ratios to it.
package bench
