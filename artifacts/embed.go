// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package artifacts carries the manifests KUDO is installed with, for programs
// that install it without a checkout at hand. It is data only: it imports nothing
// of the product, and whatever installs KUDO may import it, tests included.
package artifacts

import "embed"

// Install is the folder "install": what the cluster must hold before the two
// programs start. install/kustomization.yaml lists the files in the order in which
// they are to be applied.
//
//go:embed install/*.yaml
var Install embed.FS
