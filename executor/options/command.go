// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"flag"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// NewCommand is the command kudo-executor.
func NewCommand() *cobra.Command {
	o := New()
	cmd := &cobra.Command{
		Use:   "kudo-executor",
		Short: "Carries out the plans of KUDO operators",
		Long: "kudo-executor watches PlanExecutions, which the KUDO API server makes, applies and deletes the objects of their steps\n" +
			"in the cluster, and writes how far they are. Several may run; one of them works.",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			klog.EnableContextualLogging(true)
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	logging := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logging)
	for _, name := range []string{"v", "vmodule"} {
		cmd.Flags().AddGoFlag(logging.Lookup(name))
	}
	return cmd
}
