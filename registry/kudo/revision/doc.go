// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package revision stores OperatorVersionRevisions: what an OperatorVersion contained when a run started.
//
// Only the server creates them. Clients may read and delete them and change their metadata, which the garbage collector does.
// It may import the hub types and the generic registry.
package revision
