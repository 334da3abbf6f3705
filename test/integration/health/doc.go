// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package health tests, against a real control plane with simulated nodes, that runs fail when their objects cannot become ready, and
// that the condition Ready of an Instance follows its objects.
package health
