// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// +k8s:openapi-gen=true
// +k8s:protobuf-gen=package
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=kudo.dev/kudo/apis/kudo
// +k8s:defaulter-gen=TypeMeta
// +k8s:openapi-model-package=dev.kudo.kudo.apis.kudo.v1beta1
// +groupName=kudo.dev

// Package v1beta1 holds the wire types of kudo.dev/v1beta1: what clients send and receive, and what is stored.
//
// Operator, OperatorVersion and Instance keep the JSON shape of KUDO 0.19. PlanExecution, one run of one plan,
// follows the vocabulary of batch/v1 Job. The package is data only and may import nothing but apimachinery
// and the hub package it converts to.
package v1beta1
