// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package harness gives an integration test of the API a cluster with KUDO, users with exactly the rights it grants, and
// plain HTTP requests through kube-apiserver. Requests and answers are text, as a client without any of our Go types has them.
//
// It may import the test control plane and no product package but the generated clients.
package harness
