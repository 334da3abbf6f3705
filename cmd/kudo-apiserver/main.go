// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Command kudo-apiserver serves the API group kudo.dev as an aggregated API server.
package main

import (
	"fmt"
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"

	"kudo.dev/kudo/apiserver/options"
)

func main() {
	cmd, err := options.NewCommand(genericapiserver.SetupSignalContext())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cli.Run(cmd))
}
