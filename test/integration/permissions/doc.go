// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package permissions checks who may run which plan of which Instance, on every path that leads to a run, with users that
// kube-apiserver authenticates and roles that it evaluates. There is no executor: a test ends the runs it started. It needs the programs
// of $KUDO_BIN and of $KUDO_KUBE_BIN. It may import test/cluster, the harness, the types and the generated clients.
package permissions
