// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package validation says which objects of the group kudo.dev are valid by themselves, and which parameter values fit
// their definitions. Rules that need other objects (does the plan exist, is the Instance locked) belong to the registry.
// It may import the hub types and apimachinery.
package validation
