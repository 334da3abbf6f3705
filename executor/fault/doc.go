// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package fault says, in this one place, which errors end a run and which are tried again, and with which reason.
//
// It may be imported by every package of the executor; it imports apimachinery only.
package fault
