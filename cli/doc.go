// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package cli holds the commands of the kubectl plugins: kubectl kudo, and kubectl create planexecution.
//
// They need no more than what the API offers to everybody: a command reads, creates and watches objects with the
// permissions of the user, and decides nothing that the server decides. Waiting is watching: a command ends with the
// event that ends the run, and with an error if the run failed.
//
// Output that KUDO 0.19 prints for the same command stays as it is, because scripts read it. Errors are one line,
// beginning with "error: ", and say what to do next.
//
// The package may import apis, bundle, generated and the client libraries of Kubernetes; it may be imported by cmd.
package cli
