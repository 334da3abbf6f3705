// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	kubeversion "k8s.io/component-base/version"
)

const (
	// component is this server in the registry of versions and feature gates.
	component = "kudo"
	// binaryVersion is the version of the API that this server offers.
	binaryVersion = "0.20"
)

// loggingGates adds the features of the log to the gate of the process: the libraries read that one, so the flags must set it.
var loggingGates = sync.OnceValue(func() error {
	return logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate)
})

// newComponents registers two components: Kubernetes, whose libraries are inside, with its feature gates, and KUDO. One alone would
// make the version of the one the version of the other.
func newComponents() (basecompatibility.ComponentGlobalsRegistry, error) {
	if err := loggingGates(); err != nil {
		return nil, err
	}
	registry := basecompatibility.NewComponentGlobalsRegistry()
	kube := basecompatibility.NewEffectiveVersionFromString(kubeversion.DefaultKubeBinaryVersion, "", "")
	if err := registry.Register(basecompatibility.DefaultKubeComponent, kube, utilfeature.DefaultMutableFeatureGate); err != nil {
		return nil, err
	}
	own := basecompatibility.NewEffectiveVersionFromString(binaryVersion, "", "")
	if err := registry.Register(component, own, nil); err != nil {
		return nil, err
	}
	// An older version of KUDO is never emulated with a newer Kubernetes.
	return registry, registry.SetVersionMapping(component, basecompatibility.DefaultKubeComponent, func(*version.Version) *version.Version {
		return kube.BinaryVersion()
	})
}
