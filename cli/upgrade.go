// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
)

// upgrade is the command that changes an Instance to a newer version of its operator.
type upgrade struct {
	*environment
	instance   string
	parameters []string
	files      []string
	wait       bool
	waitTime   int64
}

func upgradeCommand(env *environment) *cobra.Command {
	u := &upgrade{environment: env}
	command := &cobra.Command{
		Use:     "upgrade DIR|TGZ|URL --instance NAME",
		Short:   "Change an instance to a newer version of its operator",
		Example: "  kubectl kudo upgrade ./keyvalue --instance kv --wait",
		Args:    onePackage,
		RunE:    func(command *cobra.Command, args []string) error { return u.run(command.Context(), args[0]) },
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

func (u *upgrade) run(ctx context.Context, location string) error {
	values, err := parseParameters(u.parameters, u.files)
	if err != nil {
		return err
	}
	p, err := bundle.Open(ctx, location)
	if err != nil {
		return err
	}
	u.warnOfMistakes(p)
	c, err := u.connect()
	if err != nil {
		return err
	}
	made, err := c.resources(ctx, location, p)
	if err != nil {
		return err
	}
	made.warnOfMistakes(u.environment)
	version := made.version
	instance, err := c.kudo.KudoV1beta1().Instances(c.namespace).Get(ctx, u.instance, metav1.GetOptions{})
	if err != nil {
		return err
	}
	current, err := operatorVersionOf(ctx, c, instance)
	if err != nil {
		return err
	}
	if current != nil {
		if err := checkUpgrade(current, version); err != nil {
			return err
		}
	}
	if err := made.create(ctx, u.environment, c); err != nil {
		return err
	}
	spec := map[string]any{"operatorVersion": map[string]any{"name": version.Name}}
	if len(values) > 0 {
		spec["parameters"] = values
	}
	if instance, err = patchInstance(ctx, c, u.instance, spec); err != nil {
		return err
	}
	u.say("instance %s/%s updated", c.namespace, u.instance)
	if !u.wait {
		return nil
	}
	return waitForPlan(ctx, u.environment, c, instance, time.Duration(u.waitTime)*time.Second)
}

// checkUpgrade refuses a version that is not newer, and one of another operator. KUDO did not check the latter.
func checkUpgrade(current, next *v1beta1.OperatorVersion) error {
	if from, to := current.Spec.Operator.Name, next.Spec.Operator.Name; from != "" && from != to {
		return fmt.Errorf("the instance runs the operator %s, but the package is of %s -> not upgrading", from, to)
	}
	from, err := semver.NewVersion(current.Spec.Version)
	if err != nil {
		return fmt.Errorf("the current version %q of the operator is not a semantic version: %w", current.Spec.Version, err)
	}
	to, err := semver.NewVersion(next.Spec.Version)
	if err != nil {
		return fmt.Errorf("operatorVersion %q of the package is not a semantic version: %w", next.Spec.Version, err)
	}
	if !to.GreaterThan(from) {
		return fmt.Errorf("upgraded version %s is the same or smaller as current version %s -> not upgrading", to, from)
	}
	return nil
}
