// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/executor/apply"
)

// Pods is where pods live.
var Pods = core("pods")

// Resource is where the objects of a pipe's kind live.
func Resource(kind string) apply.Resource {
	if kind == secretKind {
		return core("secrets")
	}
	return core("configmaps")
}

func core(resource string) apply.Resource {
	return apply.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: resource}, Namespaced: true}
}
