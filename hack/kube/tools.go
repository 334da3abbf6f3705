// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build tools

// Package tools pins the programs of the test control plane: go.mod and go.sum
// beside it decide their versions, build.sh compiles them. It is a module of its
// own so that the product never inherits what kube-apiserver or KWOK depend on.
// Nothing may import it.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "k8s.io/kubernetes/cmd/kubelet"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
