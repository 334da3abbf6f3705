// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package task carries out the tasks of a step: Apply, Delete, Toggle, Pipe, KudoOperator and Dummy. Every task can be repeated at any time
// without harm, because an executor that was killed repeats the step that it had not recorded as complete.
//
// It may be imported by the executor; it imports apply, child, health, pipe, podfiles, rendered, watch, fault, the state
// machine's result types, the generated client and render.
package task
