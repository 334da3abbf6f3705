// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// update is the command that changes parameters of an Instance.
type update struct {
	*environment
	instance   string
	parameters []string
	files      []string
	wait       bool
	waitTime   int64
}

func updateCommand(env *environment) *cobra.Command {
	u := &update{environment: env}
	command := &cobra.Command{
		Use:     "update --instance NAME -p name=value",
		Short:   "Change parameters of an instance",
		Long:    "Change parameters of an instance. The server starts the plan that the parameters name, or else update, or else deploy.",
		Example: "  kubectl kudo update --instance kv -p nodes=5 --wait",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return u.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&u.instance, "instance", "", "name of the instance (required)")
	flags.StringArrayVarP(&u.parameters, "parameter", "p", nil, "a parameter as name=value; may be repeated")
	flags.StringArrayVarP(&u.files, "parameter-file", "P", nil, "a YAML file of parameters; may be repeated, later files win")
	flags.BoolVar(&u.wait, "wait", false, "wait until the plan that this starts has ended")
	flags.Int64Var(&u.waitTime, "wait-time", 300, "how long to wait, in seconds")
	requireFlag(command, "instance")
	return command
}

func (u *update) run(ctx context.Context) error {
	values, err := parseParameters(u.parameters, u.files)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return errors.New("need to specify at least one parameter to override via -p otherwise there is nothing to update")
	}
	c, err := u.connect()
	if err != nil {
		return err
	}
	instance, err := patchInstance(ctx, c, u.instance, map[string]any{"parameters": values})
	if err != nil {
		return err
	}
	u.say("Instance %s was updated.", u.instance)
	if !u.wait {
		return nil
	}
	return waitForPlan(ctx, u.environment, c, instance, time.Duration(u.waitTime)*time.Second)
}

// patchInstance changes fields of the spec of an Instance and leaves all others as they are.
func patchInstance(ctx context.Context, c *cluster, name string, spec map[string]any) (*v1beta1.Instance, error) {
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return nil, err
	}
	return c.kudo.KudoV1beta1().Instances(c.namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
}

// waitForPlan waits for the plan that a change of the Instance has started. The server takes the lock in the write
// that makes the change, so that an Instance without a lock means that the change started no plan.
func waitForPlan(ctx context.Context, env *environment, c *cluster, instance *v1beta1.Instance, timeout time.Duration) error {
	if instance.Spec.PlanExecution.UID == "" {
		env.say("No plan was started, as nothing changed that one depends on.")
		return nil
	}
	version, err := operatorVersionOf(ctx, c, instance)
	if err != nil {
		return err
	}
	w := waiter{environment: env, cluster: c, instance: instance, version: version, timeout: timeout}
	if err := w.wait(ctx, startedBy(instance)); err != nil {
		return err
	}
	env.say("instance %s/%s ready", c.namespace, instance.Name)
	return nil
}
