// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// NewKudoCommand returns the command kubectl kudo. Run runs it.
func NewKudoCommand(streams genericiooptions.IOStreams) *cobra.Command {
	return kudoCommand(newEnvironment(streams))
}

func kudoCommand(env *environment) *cobra.Command {
	command := &cobra.Command{
		Use:           "kudo",
		Short:         "Install operators and run their plans",
		Long:          "Install operators and run their plans.\n\nOperators are packages of plans, templates and parameters; an instance is one running copy of an operator.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kudo"},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetIn(env.In)
	command.SetOut(env.Out)
	command.SetErr(env.ErrOut)
	env.flags.AddFlags(command.PersistentFlags())
	plan := &cobra.Command{Use: "plan", Short: "Show, start and end plans of an instance"}
	plan.AddCommand(statusCommand(env), historyCommand(env), triggerCommand(env), cancelCommand(env))
	get := &cobra.Command{Use: "get", Short: "List what is installed"}
	get.AddCommand(getCommands(env)...)
	command.AddCommand(installCommand(env), updateCommand(env), upgradeCommand(env), uninstallCommand(env), plan, get, packageCommand(env))
	return command
}

// requireFlag makes cobra refuse a command without the flag. It cannot fail for flags that were declared before.
func requireFlag(command *cobra.Command, names ...string) {
	for _, name := range names {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}
