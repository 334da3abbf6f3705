// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package executor carries out PlanExecutions. It watches them, has the state machine (executor/engine) say what is due,
// carries out the tasks (executor/task) and writes how far the run is. All it needs it reads from the API and all it
// knows it writes there: an executor that is killed at any point is replaced by one that goes on from the recorded status.
//
// It may be imported by executor/options and tests. It imports the API types, render, the generated clients and client
// libraries; never the API server.
package executor
