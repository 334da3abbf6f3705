// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package streams tests the streams of a run behind kube-apiserver: its log, which all who follow it read alike, however often they
// come back and whatever happens to the server, and the watch of its status.
//
// Its tests share one cluster and run one after another, because some of them stop or kill the server.
package streams
