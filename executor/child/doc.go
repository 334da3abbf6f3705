// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package child knows what a KudoOperator task has to do about its child Instance: which one it is, what to ask the server for next,
// and how the child's plan went. It makes no calls but those to read OperatorVersions for the search for cycles.
//
// It may be imported by executor/task; it imports the API types, apply and fault.
package child
