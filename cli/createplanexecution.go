// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/generated/clientset/versioned/scheme"
)

// Values of --dry-run, as in kubectl.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// createPlanExecution is the command kubectl create planexecution.
type createPlanExecution struct {
	*environment
	instance, plan string
	parameters     []string
	dryRun         string
	fieldManager   string
	printFlags     *genericclioptions.PrintFlags
	wait           bool
	timeout        time.Duration
}

// NewCreatePlanExecutionCommand returns the command kubectl create planexecution. Run runs it.
func NewCreatePlanExecutionCommand(streams genericiooptions.IOStreams) *cobra.Command {
	return createPlanExecutionCommand(newEnvironment(streams))
}

func createPlanExecutionCommand(env *environment) *cobra.Command {
	c := &createPlanExecution{
		environment: env,
		printFlags:  genericclioptions.NewPrintFlags("created").WithTypeSetter(scheme.Scheme),
	}
	command := &cobra.Command{
		Use:   "planexecution [NAME] --instance=NAME --plan=NAME [--parameter name=value] [--dry-run=none|client|server]",
		Short: "Run a plan of an instance",
		Long:  "Run a plan of an instance.\n\nWithout a name the server makes one of those of the instance and the plan.",
		Example: `  # Run the plan backup, with a parameter for this run only, and wait for its end
  kubectl create planexecution monday --instance=kv --plan=backup --parameter backupName=monday --wait`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl create planexecution"},
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return c.run(command.Context(), name)
		},
	}
	command.SetIn(env.In)
	command.SetOut(env.Out)
	command.SetErr(env.ErrOut)
	env.flags.AddFlags(command.PersistentFlags())
	flags := command.Flags()
	flags.StringVar(&c.instance, "instance", "", "name of the instance (required)")
	flags.StringVar(&c.plan, "plan", "", "name of the plan (required)")
	flags.StringArrayVarP(&c.parameters, "parameter", "p", nil, "a parameter for this run only, as name=value; may be repeated")
	flags.StringVar(&c.dryRun, "dry-run", dryRunNone, `must be "none", "server" or "client": with client only print the object, with server check the request without a run`)
	flags.StringVar(&c.fieldManager, "field-manager", "kubectl-create", "name of the manager used to track field ownership")
	flags.BoolVar(&c.wait, "wait", false, "wait until the run has ended")
	flags.DurationVar(&c.timeout, "timeout", 5*time.Minute, "how long to wait, such as 30s or 5m; 0 means without limit")
	c.printFlags.AddFlags(command)
	requireFlag(command, "instance", "plan")
	return command
}

// run creates the PlanExecution and prints it. Only then it waits, so that the name is known meanwhile.
func (c *createPlanExecution) run(ctx context.Context, name string) error {
	suffix, ok := map[string]string{dryRunNone: "", dryRunClient: " (dry run)", dryRunServer: " (server dry run)"}[c.dryRun]
	if !ok {
		return fmt.Errorf(`invalid dry-run value (%s); must be "none", "server" or "client"`, c.dryRun)
	}
	if c.wait && c.dryRun != dryRunNone {
		return errors.New("--wait cannot be combined with --dry-run: there is no run to wait for")
	}
	if suffix != "" {
		if err := c.printFlags.Complete("%s" + suffix); err != nil {
			return err
		}
	}
	printer, err := c.printFlags.ToPrinter()
	if err != nil {
		return err
	}
	values, err := parseParameters(c.parameters, nil)
	if err != nil {
		return err
	}
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	run := c.object(name, cluster.namespace, values)
	if c.dryRun != dryRunClient {
		options := metav1.CreateOptions{FieldManager: c.fieldManager}
		if c.dryRun == dryRunServer {
			options.DryRun = []string{metav1.DryRunAll}
		}
		if run, err = cluster.kudo.KudoV1beta1().PlanExecutions(cluster.namespace).Create(ctx, run, options); err != nil {
			return err
		}
	}
	if err := printer.PrintObj(run, c.Out); err != nil || !c.wait {
		return err
	}
	if err := waitForRun(ctx, c.environment, cluster, run, c.timeout); err != nil {
		return err
	}
	if format := c.printFlags.OutputFormat; format == nil || *format == "" {
		c.say("planexecution.kudo.dev/%s complete", run.Name)
	}
	return nil
}

// object is the PlanExecution that the arguments ask for.
func (c *createPlanExecution) object(name, namespace string, values map[string]string) *v1beta1.PlanExecution {
	run := &v1beta1.PlanExecution{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "PlanExecution"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       v1beta1.PlanExecutionSpec{InstanceName: c.instance, PlanName: c.plan, Parameters: values},
	}
	if name == "" {
		run.GenerateName = c.instance + "-" + c.plan + "-"
	}
	if len(values) == 0 {
		run.Spec.Parameters = nil
	}
	return run
}
