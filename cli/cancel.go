// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// cancel is the command that ends a run.
type cancel struct {
	*environment
	instance, name, message string
}

func cancelCommand(env *environment) *cobra.Command {
	c := &cancel{environment: env}
	command := &cobra.Command{
		Use:   "cancel --instance NAME",
		Short: "End the plan that an instance runs",
		Long: "End the plan that an instance runs. It ends with FATAL_ERROR at once, and the instance is free for another plan. What the plan\n" +
			"has applied stays as it is, and the PlanExecution is kept.",
		Example: `  # End whatever runs
  kubectl kudo plan cancel --instance kv

  # End this run, but no other one, and say why
  kubectl kudo plan cancel --instance kv --name kv-backup-x7f2k --message "wrong bucket"`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return c.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&c.instance, "instance", "", "name of the instance (required)")
	flags.StringVar(&c.name, "name", "", "name of the run, a PlanExecution; default is the one that the instance runs")
	flags.StringVar(&c.message, "message", "", "why; the status of the run will tell")
	requireFlag(command, "instance")
	return command
}

func (c *cancel) run(ctx context.Context) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	runs, err := runsOf(ctx, cluster, c.instance)
	if err != nil {
		return err
	}
	name, err := c.chosen(ctx, cluster, runs)
	if err != nil {
		return err
	}
	ended, err := cluster.kudo.KudoV1beta1().PlanExecutions(cluster.namespace).Cancel(ctx, name, &v1beta1.PlanExecutionCancel{Message: c.message}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	c.say("Cancelled %s plan of %s/%s instance", ended.Spec.PlanName, cluster.namespace, c.instance)
	c.say("planexecution.kudo.dev/%s %s", ended.Name, ended.Status.Message)
	return nil
}

// chosen is the name of the run to end. The server decides whether it can be ended.
func (c *cancel) chosen(ctx context.Context, cluster *cluster, runs []v1beta1.PlanExecution) (string, error) {
	history := fmt.Sprintf("see: kubectl kudo plan history -n %s --instance %s", cluster.namespace, c.instance)
	if c.name != "" {
		for i := range runs {
			if runs[i].Name == c.name {
				return c.name, nil
			}
		}
		return "", fmt.Errorf("instance %s/%s has no run named %q; %s", cluster.namespace, c.instance, c.name, history)
	}
	instance, err := cluster.kudo.KudoV1beta1().Instances(cluster.namespace).Get(ctx, c.instance, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	held := instance.Spec.PlanExecution
	for i := range runs {
		if held.UID != "" && runs[i].UID == held.UID {
			return runs[i].Name, nil
		}
	}
	switch {
	case held.UID == "" && len(runs) == 0:
		return "", fmt.Errorf("instance %s/%s runs no plan: there is nothing to cancel", cluster.namespace, c.instance)
	case held.UID == "":
		return "", fmt.Errorf("instance %s/%s runs no plan: there is nothing to cancel; the last one, %s, ended with %s; %s",
			cluster.namespace, c.instance, runs[0].Name, runs[0].Status.Status, history)
	case held.Template != nil && held.Template.Name != "":
		return held.Template.Name, nil // it was stored after the runs were listed, or will be in a moment
	}
	return "", fmt.Errorf("the run of plan %s that holds instance %s/%s is not stored yet; try again in a moment", held.PlanName, cluster.namespace, c.instance)
}
