// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package health says whether an object is what a plan waits for, from the object alone. It follows kstatus, the rules
// that kubectl plugins, Flux and others share, and departs from it where a step of a plan asks something else: a Job is
// ready when it has finished, not when it has started. Of an object that is not ready it says what is wrong with its pods, which the
// caller finds, and since when they are stuck.
//
// It may be imported by the executor and by whatever shows health to people; it imports no clients.
package health
