// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package kuttl runs test suites of KUDO, which KUDO_SHARED has, and ours in testdata, with the program they were written for, kuttl,
// which is used as it was published, and with our kubectl-kudo and control plane. make kuttl builds kuttl and runs this; without
// KUDO_KUTTL, which names the program, the tests skip.
package kuttl
