// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// Run runs a command with the arguments of the process and returns the exit code: 0, or 1 after an error, which is
// printed in one line. An interrupt ends the command, but not the plan that it waits for.
func Run(command *cobra.Command) int {
	// The client libraries log what they retry; of what is not retried the commands tell themselves.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; a plan that has started goes on")
	}
	_, _ = fmt.Fprintln(command.ErrOrStderr(), "error: "+oneLine(explain(err)))
	return 1
}

// oneLine joins the lines of an error that collects several.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
