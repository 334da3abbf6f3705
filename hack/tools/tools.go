// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build tools

// Package tools pins the code generators. They share the versions of the product's own Kubernetes modules.
package tools

import (
	_ "golang.org/x/tools/cmd/goimports"
	_ "k8s.io/code-generator"
	_ "k8s.io/code-generator/cmd/applyconfiguration-gen"
	_ "k8s.io/code-generator/cmd/go-to-protobuf"
	_ "k8s.io/code-generator/cmd/go-to-protobuf/protoc-gen-gogo"
	_ "k8s.io/kube-openapi/cmd/openapi-gen"
)
