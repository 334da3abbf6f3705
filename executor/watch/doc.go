// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package watch tells runs when an object they wait for changes. It keeps one informer per resource, started when the
// first run waits for an object of it and stopped when none has for a while; it sees objects that carry KUDO's label.
//
// It may be imported by the executor; it imports client libraries and executor/apply for the label.
package watch
