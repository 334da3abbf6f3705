// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package apply brings objects of templates into the cluster: it finds out which resource an object belongs to, marks it
// as KUDO does (labels, annotations, owner), and applies or deletes it.
//
// It may be imported by the executor; it imports client libraries and knows nothing of plans, tasks or their status.
package apply
