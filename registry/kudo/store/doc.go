// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package store holds what all stores of the group have in common: selectors, tables, deletion workers.
// It may import the generic registry and no other package of the registry.
package store
