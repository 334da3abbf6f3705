// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package engine is the state machine of a plan: a pure function of the plan, the recorded status, what the steps
// reported and the time. It makes no calls, starts no goroutines and reads no clock, so that every rule about what may
// run, and when, can be tested as a table.
//
// A run goes through it like this: [Init] gives the status the shape of the plan; [Advance] begins every step that may
// begin; the caller stores the status, and only then carries out the steps that [Runnable] names; [Record] takes in what
// they reported; and again. A step therefore never acts before "IN_PROGRESS" is stored for it, and the next step never
// acts before "COMPLETE" is stored for the one before.
//
// It may be imported by the executor; it imports the API types only.
package engine
