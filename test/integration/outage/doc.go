// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package outage tests a cluster whose kudo-apiserver, kudo-executor or kube-apiserver is away for a while: what works
// meanwhile and what waits, and that all of it goes on by itself afterwards. docs/operations.md describes it.
//
// Its tests share one cluster and run one after another, because each of them stops something that the others need.
package outage
