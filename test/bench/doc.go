// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package bench measures what users wait for, against the same on plain Kubernetes: in the same run, on the same control plane,
// with the same number of clients, in turns. A machine that is slow for a while is then slow for both, and the ratio holds where
// the times do not. Every etcd waits for the disk, and the executor carries out what is triggered while the next is measured.
//
// It judges nothing: make bench prints medians, spread and the ratios of the medians.
package bench
