// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package storage tests what the server writes into an etcd outside of it, which is also how other programs see its data.
package storage
