// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package runs tests what runs of plans do on a real cluster: the example operators and real packages from installation
// to their last plan, the order of steps, what steps wait for, how runs fail, and what can be done with a run.
package runs
