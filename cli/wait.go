// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// waiter waits for the end of a run. On a terminal it shows the tree of the run meanwhile.
type waiter struct {
	*environment
	cluster  *cluster
	instance *v1beta1.Instance
	// version may be nil; then the tree shows no other plans than the one that runs.
	version *v1beta1.OperatorVersion
	// timeout of zero is none.
	timeout time.Duration
	// verbose shows the tree also where there is no terminal: once, and then the lines that change.
	verbose bool
}

// wait returns when the run has ended, with an error if it failed or the time is over.
func (w *waiter) wait(ctx context.Context, wanted func(*v1beta1.PlanExecution) bool) error {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	d := newDisplay(w.Out)
	run, err := follow(ctx, w.cluster, w.instance.Name, wanted, func(run *v1beta1.PlanExecution) {
		if d.terminal || w.verbose {
			d.show(statusTree(w.instance, w.version, run))
		}
	})
	switch {
	case err == nil:
		return outcome(run)
	case errors.Is(err, context.DeadlineExceeded):
		return w.timedOut(run)
	default:
		return err
	}
}

// timedOut says what the run was waiting for when the time was over.
func (w *waiter) timedOut(run *v1beta1.PlanExecution) error {
	name := w.instance.Namespace + "/" + w.instance.Name
	if run == nil {
		return fmt.Errorf("timeout waiting for instance %s: no run of a plan has begun within %s; see: kubectl get planexecutions", name, w.timeout)
	}
	for _, phase := range run.Status.Phases {
		for _, step := range phase.Steps {
			if step.Status.IsRunning() && step.Status != v1beta1.ExecutionPending {
				return fmt.Errorf("timeout waiting for instance %s: after %s plan %s is at step %s.%s: %s; it goes on, see: kubectl kudo plan status --instance %s --wait",
					name, w.timeout, run.Spec.PlanName, phase.Name, step.Name, cmp.Or(stepMessage(&step), string(step.Status)), w.instance.Name)
			}
		}
	}
	return fmt.Errorf("timeout waiting for instance %s: after %s plan %s is %s: %s; see: kubectl kudo plan status --instance %s --wait", name, w.timeout,
		run.Spec.PlanName, cmp.Or(string(run.Status.Status), "not begun"), cmp.Or(run.Status.Message, "the executor has not taken it up"), w.instance.Name)
}
