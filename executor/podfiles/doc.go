// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package podfiles reads files and logs of running containers by way of the kubelet. It is the one part of the executor that needs
// containers that really run.
//
// It may be imported by executor, executor/options and executor/task; it imports fault.
package podfiles
