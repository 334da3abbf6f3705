// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// +k8s:deepcopy-gen=package
// +groupName=kudo.dev

// Package kudo holds the hub types of the API group kudo.dev: the form in which the server works with objects, to and
// from which every wire version converts. It is data only and may import nothing but apimachinery.
package kudo
