// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package rendered keeps what came out of templates that come out different each time, because they draw random numbers or ask the
// clock. A step that is carried out again, by this executor or the next one, then applies what it applied before.
//
// It may be imported by executor/task; it imports apply and fault.
package rendered
