// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// trigger is the command that starts a plan.
type trigger struct {
	*environment
	instance, plan string
	parameters     []string
	files          []string
	wait           bool
	waitTime       int64
}

func triggerCommand(env *environment) *cobra.Command {
	t := &trigger{environment: env}
	command := &cobra.Command{
		Use:     "trigger --instance NAME --name PLAN",
		Short:   "Start a plan of an instance",
		Example: "  kubectl kudo plan trigger --instance kv --name backup -p backupName=monday --wait",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return t.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&t.instance, "instance", "", "name of the instance (required)")
	flags.StringVar(&t.plan, "name", "", "name of the plan (required)")
	flags.StringArrayVarP(&t.parameters, "parameter", "p", nil, "a parameter for this run only, as name=value; may be repeated")
	flags.StringArrayVarP(&t.files, "parameter-file", "P", nil, "a YAML file of parameters for this run only; may be repeated")
	flags.BoolVar(&t.wait, "wait", false, "wait until the plan has ended")
	flags.Int64Var(&t.waitTime, "wait-time", 300, "how long to wait, in seconds")
	requireFlag(command, "instance", "name")
	return command
}

func (t *trigger) run(ctx context.Context) error {
	values, err := parseParameters(t.parameters, t.files)
	if err != nil {
		return err
	}
	c, err := t.connect()
	if err != nil {
		return err
	}
	run, err := c.kudo.KudoV1beta1().Instances(c.namespace).CreatePlan(ctx, t.instance, &v1beta1.PlanTrigger{PlanName: t.plan, Parameters: values}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	t.say("Triggered %s plan for %s/%s instance", t.plan, c.namespace, t.instance)
	t.say("planexecution.kudo.dev/%s created", run.Name)
	if !t.wait {
		return nil
	}
	if err := waitForRun(ctx, t.environment, c, run, time.Duration(t.waitTime)*time.Second); err != nil {
		return err
	}
	t.say("planexecution.kudo.dev/%s complete", run.Name)
	return nil
}

// waitForRun waits for a run that was just created.
func waitForRun(ctx context.Context, env *environment, c *cluster, run *v1beta1.PlanExecution, timeout time.Duration) error {
	instance, err := c.kudo.KudoV1beta1().Instances(c.namespace).Get(ctx, run.Spec.InstanceName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	version, err := operatorVersionOf(ctx, c, instance)
	if err != nil {
		return err
	}
	w := waiter{environment: env, cluster: c, instance: instance, version: version, timeout: timeout}
	return w.wait(ctx, thisRun(run))
}
