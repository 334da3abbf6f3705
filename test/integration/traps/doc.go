// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package traps tests what has broken other aggregated API servers: namespaces that never go, policies that cannot be watched,
// certificates, streams, restarts, and locks whose server was killed.
//
// Its tests share one cluster. Those that stop the server run one after another; after them, at the same time, those that only
// take long.
package traps
