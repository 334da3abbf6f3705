// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
)

// install is the command that makes objects of a package and creates them.
type install struct {
	*environment
	instance     string
	parameters   []string
	files        []string
	skipInstance bool
	wait         bool
	waitTime     int64
}

func installCommand(env *environment) *cobra.Command {
	i := &install{environment: env}
	command := &cobra.Command{
		Use:   "install DIR|TGZ|URL",
		Short: "Install an operator and create an instance of it",
		Example: `  # Install the operator in a folder and wait until its deploy plan has ended
  kubectl kudo install ./keyvalue --instance kv -p password=secret --wait

  # Install only the operator
  kubectl kudo install keyvalue-7.2.0_0.1.0.tgz --skip-instance

  # Install an operator from a server
  kubectl kudo install https://example.com/keyvalue-7.2.0_0.1.0.tgz -p password=secret`,
		Args: onePackage,
		RunE: func(command *cobra.Command, args []string) error { return i.run(command.Context(), args[0]) },
	}
	flags := command.Flags()
	flags.StringVar(&i.instance, "instance", "", "name of the instance; <operator>-instance if not given")
	flags.StringArrayVarP(&i.parameters, "parameter", "p", nil, "a parameter as name=value; may be repeated")
	flags.StringArrayVarP(&i.files, "parameter-file", "P", nil, "a YAML file of parameters; may be repeated, later files win")
	flags.BoolVar(&i.skipInstance, "skip-instance", false, "install the operator only, without an instance of it")
	flags.BoolVar(&i.wait, "wait", false, "wait until the deploy plan has ended")
	flags.Int64Var(&i.waitTime, "wait-time", 300, "how long to wait, in seconds")
	return command
}

// onePackage accepts exactly one argument.
func onePackage(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected one argument, the folder, .tgz file or URL of an operator package, but got %d", len(args))
	}
	return nil
}

// run checks everything that can be checked before it creates anything.
func (i *install) run(ctx context.Context, location string) error {
	values, err := parseParameters(i.parameters, i.files)
	if err != nil {
		return err
	}
	p, err := bundle.Open(ctx, location)
	if err != nil {
		return err
	}
	i.warnOfMistakes(p)
	c, err := i.connect()
	if err != nil {
		return err
	}
	made, err := c.resources(ctx, location, p)
	if err != nil {
		return err
	}
	made.warnOfMistakes(i.environment)
	version, instance := made.version, made.instance
	instance.Spec.Parameters = values
	if i.instance != "" {
		instance.Name = i.instance
	}
	if !i.skipInstance {
		if missing := missingParameters(version.Spec.Parameters, values); len(missing) > 0 {
			return fmt.Errorf("missing required parameters during installation: %s", strings.Join(missing, ","))
		}
	}
	server, err := c.version.ServerVersion()
	if err != nil {
		return err
	}
	if err := made.checkKubernetes(server.GitVersion); err != nil {
		return err
	}
	if !i.skipInstance {
		_, err := c.kudo.KudoV1beta1().Instances(c.namespace).Get(ctx, instance.Name, metav1.GetOptions{})
		if err == nil {
			return instanceExists(instance)
		}
		if !isNotFound(err) {
			return err
		}
	}
	if err := made.create(ctx, i.environment, c); err != nil {
		return err
	}
	if i.skipInstance {
		return nil
	}
	return i.createInstance(ctx, c, instance, version)
}

// createOperator creates the Operator, unless it exists already.
func createOperator(ctx context.Context, env *environment, c *cluster, operator *v1beta1.Operator) error {
	_, err := c.kudo.KudoV1beta1().Operators(c.namespace).Create(ctx, operator, metav1.CreateOptions{})
	switch {
	case err == nil:
		env.say("operator %s/%s created", c.namespace, operator.Name)
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	return nil
}

// createVersion creates the OperatorVersion, unless it exists already.
func createVersion(ctx context.Context, env *environment, c *cluster, version *v1beta1.OperatorVersion) error {
	_, err := c.kudo.KudoV1beta1().OperatorVersions(c.namespace).Create(ctx, version, metav1.CreateOptions{})
	switch {
	case err == nil:
		env.say("operatorversion %s/%s created", c.namespace, version.Name)
	case apierrors.IsAlreadyExists(err):
		env.say("operatorversion %s/%s already installed", c.namespace, version.Name)
	default:
		return err
	}
	return nil
}

// createInstance creates the Instance and waits for the plan that this starts, if asked to.
func (i *install) createInstance(ctx context.Context, c *cluster, instance *v1beta1.Instance, version *v1beta1.OperatorVersion) error {
	created, err := c.kudo.KudoV1beta1().Instances(c.namespace).Create(ctx, instance, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return instanceExists(instance)
	}
	if err != nil {
		return err
	}
	i.say("instance %s/%s created", c.namespace, instance.Name)
	if !i.wait {
		return nil
	}
	w := waiter{environment: i.environment, cluster: c, instance: created, version: version, timeout: time.Duration(i.waitTime) * time.Second}
	if err := w.wait(ctx, startedBy(created)); err != nil {
		return err
	}
	i.say("instance %s/%s ready", c.namespace, instance.Name)
	return nil
}

func instanceExists(instance *v1beta1.Instance) error {
	return fmt.Errorf("cannot install instance '%s' because an instance of that name already exists in namespace %s; choose another name with --instance", instance.Name, instance.Namespace)
}

// say prints a line of output.
func (env *environment) say(format string, args ...any) {
	_, _ = fmt.Fprintf(env.Out, format+"\n", args...)
}

// isNotFound says that an object does not exist, as opposed to its API.
func isNotFound(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && apierrors.IsNotFound(err) && !isGroupMissing(status)
}
