// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"context"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/component-base/term"
)

// NewCommand makes the command kudo-apiserver, which runs until ctx ends.
func NewCommand(ctx context.Context) (*cobra.Command, error) {
	o, err := New()
	if err != nil {
		return nil, err
	}
	logging := logsapi.NewLoggingConfiguration()
	cmd := &cobra.Command{
		Use:   "kudo-apiserver",
		Short: "Serve the API group kudo.dev behind kube-apiserver",
		Long: "kudo-apiserver serves Operators, OperatorVersions, Instances and PlanExecutions as an aggregated API server.\n" +
			"It stores them in an etcd of its own, inside the process (--data-dir) or outside (--etcd-servers).",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logging, o.components.FeatureGateFor("kube")); err != nil {
				return err
			}
			if err := o.Complete(); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.RunServer(c.Context())
		},
	}
	cmd.SetContext(ctx)
	sets := o.Flags()
	logsapi.AddFlags(logging, sets.FlagSet("logs"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, fs := range sets.FlagSets {
		cmd.Flags().AddFlagSet(fs)
	}
	width, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		width = 0 // not a terminal: lines are not broken
	}
	cliflag.SetUsageAndHelpFunc(cmd, *sets, width)
	return cmd, nil
}
