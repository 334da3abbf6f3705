// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// history is the command that lists the runs of an Instance.
type history struct {
	*environment
	instance, plan string
	now            func() time.Time
}

func historyCommand(env *environment) *cobra.Command {
	h := &history{environment: env, now: time.Now}
	command := &cobra.Command{
		Use:   "history --instance NAME",
		Short: "List the runs of an instance, newest first",
		Long: "List the runs of an instance, newest first. Times are in UTC. Runs that were deleted are not in the list. For what a run did, see\n" +
			"kubectl get planexecution NAME -o yaml.",
		Example: "  kubectl kudo plan history --instance kv --plan backup",
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return h.run(command.Context()) },
	}
	command.Flags().StringVar(&h.instance, "instance", "", "name of the instance (required)")
	command.Flags().StringVar(&h.plan, "plan", "", "only runs of this plan")
	requireFlag(command, "instance")
	return command
}

func (h *history) run(ctx context.Context) error {
	c, err := h.connect()
	if err != nil {
		return err
	}
	runs, err := runsOf(ctx, c, h.instance)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		// An empty list is no answer to a name that was misspelt.
		if _, err := c.kudo.KudoV1beta1().Instances(c.namespace).Get(ctx, h.instance, metav1.GetOptions{}); err != nil {
			return err
		}
	}
	if h.plan != "" {
		runs = slices.DeleteFunc(runs, func(run v1beta1.PlanExecution) bool { return run.Spec.PlanName != h.plan })
	}
	switch {
	case len(runs) > 0:
	case h.plan != "":
		h.say("Plan %s of instance %s/%s has not run", h.plan, c.namespace, h.instance)
		return nil
	default:
		h.say("No plan of instance %s/%s has run", c.namespace, h.instance)
		return nil
	}
	w := printers.GetNewTabWriter(h.Out)
	_, _ = fmt.Fprintln(w, "NAME\tPLAN\tSTATUS\tSTARTED\tDURATION\tREQUESTED BY\tTRIGGER\tMESSAGE")
	for i := range runs {
		_, _ = fmt.Fprintln(w, strings.Join(h.row(&runs[i]), "\t"))
	}
	return w.Flush()
}

// row shows a run; its last column is empty unless the run failed or waits.
func (h *history) row(run *v1beta1.PlanExecution) []string {
	started, took := "", ""
	if start := run.Status.StartTime; start != nil {
		end := h.now()
		if run.Status.CompletionTime != nil {
			end = run.Status.CompletionTime.Time
		}
		started, took = start.UTC().Format(time.DateTime), duration.HumanDuration(end.Sub(start.Time))
	}
	who := ""
	if run.Spec.RequestedBy != nil {
		who = run.Spec.RequestedBy.Username
	}
	return []string{run.Name, run.Spec.PlanName, cmp.Or(string(run.Status.Status), string(v1beta1.ExecutionPending)), started, took, who,
		string(run.Spec.Trigger), strings.Join(strings.Fields(run.Status.Message), " ")}
}

// runsOf returns the runs of an Instance, newest first.
func runsOf(ctx context.Context, c *cluster, instance string) ([]v1beta1.PlanExecution, error) {
	list, err := c.kudo.KudoV1beta1().PlanExecutions(c.namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(v1beta1.InstanceNameField, instance).String(),
	})
	if err != nil {
		return nil, err
	}
	runs := slices.DeleteFunc(list.Items, func(run v1beta1.PlanExecution) bool { return run.Spec.InstanceName != instance })
	slices.SortStableFunc(runs, func(a, b v1beta1.PlanExecution) int {
		switch {
		case newer(&a, &b):
			return -1
		case newer(&b, &a):
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return runs, nil
}
