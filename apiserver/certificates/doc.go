// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package certificates keeps the serving certificate of the server and the trust that kube-apiserver has in it.
//
// A Secret holds a certificate authority and one leaf for the name of the Service; all replicas share it (provider.go). The
// authority is announced in the caBundle of the APIService (publisher.go), with the one before it as long as that is valid, so
// that a rotation never breaks a connection: first a new authority is announced, and only a later check signs with it.
// It may import client-go and kube-aggregator's clients.
package certificates
