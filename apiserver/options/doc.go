// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package options holds the flags of kudo-apiserver, checks them, and starts a server from them. It may import apiserver, its
// sub-packages and the option packages of k8s.io/apiserver.
package options
