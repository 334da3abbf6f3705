// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package options turns flags into a running executor: clients, leader election, health checks and metrics.
//
// It may be imported by cmd/kudo-executor and by tests.
package options
