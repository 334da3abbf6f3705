// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package install adds all versions of the API group kudo.dev to a scheme. Servers and tests use it; clients use the
// scheme of the generated clientset.
package install

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Install registers the hub and wire types, their conversions and defaults.
func Install(scheme *runtime.Scheme) {
	utilruntime.Must(kudo.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(scheme.SetVersionPriority(v1beta1.SchemeGroupVersion))
}
