// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package history tests on a real cluster what is kept of the runs of an Instance and of the revisions of its OperatorVersion, and
// that the rest goes, whoever is killed meanwhile.
package history
