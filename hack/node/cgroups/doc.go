// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package cgroups finds where a node can have control groups of its own. hack/node makes them there, and test/cluster asks
// before it starts one; nothing else imports it. It reads and changes nothing.
package cgroups
