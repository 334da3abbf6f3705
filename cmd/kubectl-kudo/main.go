// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Command kubectl-kudo is the kubectl plugin kubectl kudo.
package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	// Credential plugins of cluster providers, as kubectl has them.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"kudo.dev/kudo/cli"
)

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(cli.Run(cli.NewKudoCommand(streams)))
}
