// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package node runs operators on a node with real containers, where a backup that was not written cannot be restored. It
// needs root on Linux, and skips elsewhere, saying what is missing.
package node
