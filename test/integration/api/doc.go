// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package api tests kudo.dev as its clients meet it: through a real kube-apiserver, as users with exactly the rights a test
// grants, by plain HTTP, client-go and kubectl. All tests share one cluster and run at the same time, each in its own namespace.
package api
