// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package pipe knows what a Pipe task makes: how its objects are called, the pod that writes the files, what is wrong with a pod that
// will not get there, and the Secrets and ConfigMaps that keep the files. It makes no calls.
//
// It may be imported by executor and executor/task; it imports the API types, apply and fault.
package pipe
