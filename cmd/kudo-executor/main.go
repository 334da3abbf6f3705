// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Command kudo-executor carries out the plans of KUDO operators.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"kudo.dev/kudo/executor/options"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer klog.Flush()
	if err := options.NewCommand().ExecuteContext(ctx); err != nil {
		return 1 // cobra has printed it
	}
	return 0
}
