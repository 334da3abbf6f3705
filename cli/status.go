// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// errOutput is KUDO's text for a wrong -o.
var errOutput = errors.New("invalid output format, only support 'yaml' or 'json' or empty")

// status is the command that shows how far the plans of an Instance are.
type status struct {
	*environment
	instance, output string
	wait             bool
}

func statusCommand(env *environment) *cobra.Command {
	s := &status{environment: env}
	command := &cobra.Command{
		Use:   "status --instance NAME",
		Short: "Show how far the plans of an instance are",
		Example: `  # Show all plans, with phases and steps of the one that runs or ran last
  kubectl kudo plan status --instance kv

  # Follow a run to its end; the exit code says how it ended
  kubectl kudo plan status --instance kv --wait`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command.Context()) },
	}
	command.Flags().StringVar(&s.instance, "instance", "", "name of the instance (required)")
	command.Flags().BoolVarP(&s.wait, "wait", "w", false, "follow the running plan to its end")
	command.Flags().StringVarP(&s.output, "output", "o", "", "print the status of the instance as yaml or json instead")
	requireFlag(command, "instance")
	return command
}

func (s *status) run(ctx context.Context) error {
	if s.output != "" && s.output != "yaml" && s.output != "json" {
		return errOutput
	}
	c, err := s.connect()
	if err != nil {
		return err
	}
	instance, err := c.kudo.KudoV1beta1().Instances(c.namespace).Get(ctx, s.instance, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if s.output != "" {
		return s.print(instance.Status)
	}
	version, err := operatorVersionOf(ctx, c, instance)
	if err != nil {
		return err
	}
	run, err := currentRun(ctx, c, instance)
	if err != nil {
		return err
	}
	locked := instance.Spec.PlanExecution.UID != ""
	if s.wait && (locked || run != nil && !run.Status.Status.IsTerminal()) {
		wanted := startedBy(instance)
		if !locked {
			wanted = thisRun(run)
		}
		w := waiter{environment: s.environment, cluster: c, instance: instance, version: version, verbose: true}
		return w.wait(ctx, wanted)
	}
	if run == nil && lastStatus(instance) == nil {
		s.say("No plan ever run for instance - nothing to show for instance %s", instance.Name)
		return nil
	}
	newDisplay(s.Out).show(statusTree(instance, version, run))
	if s.wait && run != nil {
		return outcome(run)
	}
	return nil
}

// print prints a value as the output format says.
func (s *status) print(value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if s.output == "yaml" {
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
		_, err = s.Out.Write(data)
		return err
	}
	_, err = fmt.Fprintln(s.Out, string(data))
	return err
}

// operatorVersionOf returns the OperatorVersion of an Instance; nil if it does not exist any more, which is no reason
// to show nothing.
func operatorVersionOf(ctx context.Context, c *cluster, instance *v1beta1.Instance) (*v1beta1.OperatorVersion, error) {
	ref := instance.Spec.OperatorVersion
	version, err := c.kudo.KudoV1beta1().OperatorVersions(cmp.Or(ref.Namespace, instance.Namespace)).Get(ctx, ref.Name, metav1.GetOptions{})
	if err == nil {
		return version, nil
	}
	if isNotFound(err) {
		return nil, nil
	}
	return nil, err
}

// currentRun returns the run that holds the lock of an Instance or, if none does, the newest. It is nil if there is
// none: runs can be deleted, and the status of the Instance still knows of them.
func currentRun(ctx context.Context, c *cluster, instance *v1beta1.Instance) (*v1beta1.PlanExecution, error) {
	runs, err := c.kudo.KudoV1beta1().PlanExecutions(c.namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(v1beta1.InstanceNameField, instance.Name).String(),
	})
	if err != nil {
		return nil, err
	}
	var newest *v1beta1.PlanExecution
	for i := range runs.Items {
		run := &runs.Items[i]
		if run.Spec.InstanceName != instance.Name {
			continue
		}
		if run.UID == instance.Spec.PlanExecution.UID && run.UID != "" {
			return run, nil
		}
		if newest == nil || newer(run, newest) {
			newest = run
		}
	}
	// The status of the Instance may tell of a run whose PlanExecution is gone.
	if last := lastStatus(instance); newest != nil && last != nil && last.LastUpdatedTimestamp != nil &&
		newest.Status.Status.IsTerminal() && last.UID != "" && last.UID != newest.UID && lastChange(newest).Before(last.LastUpdatedTimestamp) {
		return nil, nil
	}
	return newest, nil
}

// newer says which of two runs began later. Times of creation have whole seconds; the start tells more of runs that
// ended at once.
func newer(a, b *v1beta1.PlanExecution) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	if a.Status.Status.IsTerminal() != b.Status.Status.IsTerminal() {
		return b.Status.Status.IsTerminal()
	}
	return lastChange(b).Before(lastChange(a))
}
