// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Command cluster keeps a local cluster with KUDO in it, for trying things out:
// up, down, run and status of the cluster in --dir. It is test/cluster behind a
// command line, and nothing imports it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// local is the cluster the commands are about.
type local struct {
	// dir is the cluster's folder as the user wrote it, so that what is printed
	// can be typed.
	dir string
	// binDir is the folder of KUDO's programs.
	binDir string
	nodes  int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1)
	}
}

func command() *cobra.Command {
	l := &local{}
	root := &cobra.Command{
		Use:           "cluster",
		Short:         "Keep a local cluster with KUDO in it",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&l.dir, "dir", ".cluster", "folder of the cluster")
	root.PersistentFlags().StringVar(&l.binDir, "bin-dir", "bin", "folder of KUDO's programs")
	root.PersistentFlags().IntVar(&l.nodes, "nodes", 1, "number of nodes of a new cluster")

	var operator, instance, next string
	var parameters []string
	run := &cobra.Command{
		Use: "run", Short: "Start the cluster if need be and install an operator in it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return l.run(cmd.Context(), operator, instance, next, parameters)
		},
	}
	run.Flags().StringVar(&operator, "operator", "artifacts/operators/first-operator", "folder of the operator package")
	run.Flags().StringVar(&instance, "instance", "first", "name of the Instance")
	run.Flags().StringVar(&next, "next-plan", "deploy", "plan that is suggested to be run then")
	run.Flags().StringArrayVarP(&parameters, "parameter", "p", nil, "parameter of the Instance as name=value; may be given several times")
	root.AddCommand(run,
		&cobra.Command{
			Use: "up", Short: "Start the cluster, or what of it does not run", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if _, err := l.up(cmd.Context()); err != nil {
					return err
				}
				l.printEnvironment()
				return nil
			},
		},
		&cobra.Command{
			Use: "down", Short: "End every process of the cluster and remove its data", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return l.down() },
		},
		&cobra.Command{
			Use: "status", Short: "Say what of the cluster runs", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return l.status(cmd.Context()) },
		},
	)
	return root
}

// say prints one line of progress.
func say(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }

// printEnvironment ends the output with what to type to use the cluster.
func (l *local) printEnvironment() {
	fmt.Printf("\nexport KUBECONFIG=%s\n", filepath.Join(l.dir, "kubeconfig"))
	fmt.Printf("export PATH=%s:%s:$PATH\n", absolute(l.binDir), absolute(filepath.Join(l.dir, "bin")))
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

func since(t time.Time) string { return fmt.Sprintf("%.1f s", time.Since(t).Seconds()) }
