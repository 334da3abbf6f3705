// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package operator stores Operators: what a package is and who maintains it.
// It may import the hub types, their validation and the generic registry.
package operator
