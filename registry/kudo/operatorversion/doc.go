// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package operatorversion stores OperatorVersions: the plans, tasks, templates and parameters of one version of an operator.
// It may import the hub types, their validation and the generic registry.
package operatorversion
