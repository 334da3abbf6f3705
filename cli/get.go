// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// getCommands returns the commands that list names as KUDO does. For everything else there is kubectl get.
func getCommands(env *environment) []*cobra.Command {
	var commands []*cobra.Command
	for kind, list := range map[string]func(context.Context, *cluster) (runtime.Object, error){
		"instances": func(ctx context.Context, c *cluster) (runtime.Object, error) {
			return c.kudo.KudoV1beta1().Instances(c.namespace).List(ctx, metav1.ListOptions{})
		},
		"operators": func(ctx context.Context, c *cluster) (runtime.Object, error) {
			return c.kudo.KudoV1beta1().Operators(c.namespace).List(ctx, metav1.ListOptions{})
		},
		"operatorversions": func(ctx context.Context, c *cluster) (runtime.Object, error) {
			return c.kudo.KudoV1beta1().OperatorVersions(c.namespace).List(ctx, metav1.ListOptions{})
		},
	} {
		commands = append(commands, &cobra.Command{
			Use:   kind,
			Short: "List the " + kind + " of a namespace",
			Args:  cobra.NoArgs,
			RunE: func(command *cobra.Command, _ []string) error {
				c, err := env.connect()
				if err != nil {
					return err
				}
				objects, err := list(command.Context(), c)
				if err != nil {
					return err
				}
				var names []string
				if err := meta.EachListItem(objects, func(object runtime.Object) error {
					accessor, err := meta.Accessor(object)
					if err != nil {
						return err
					}
					names = append(names, accessor.GetName())
					return nil
				}); err != nil {
					return err
				}
				slices.Sort(names)
				env.say("List of current installed %s in namespace %q:\n.", kind, c.namespace)
				for i, name := range names {
					branch, _ := branches("", i == len(names)-1)
					_, _ = fmt.Fprintln(env.Out, branch+name)
				}
				return nil
			},
		})
	}
	return commands
}
