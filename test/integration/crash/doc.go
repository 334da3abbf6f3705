// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package crash kills KUDO's processes at random moments of runs and checks what must hold through that: an accepted run
// is neither lost nor run twice, no step that was recorded complete runs again, every finished run's tree is whole, and
// no lock outlives its run.
//
// What the executor did is read from the audit log of the kube-apiserver, which misses nothing: the tests do not rely on
// having watched at the right moment.
package crash
