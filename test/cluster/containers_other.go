// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build !linux

package cluster

import "runtime"

// ContainersMissing says what ModeContainers needs and this machine does not have; nil if it can be started.
func ContainersMissing() []string { return []string{"Linux is needed, and this is " + runtime.GOOS} }
