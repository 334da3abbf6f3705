// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// errDeleted is the error of a run that somebody has deleted before its end.
var errDeleted = errors.New("the PlanExecution was deleted before its end")

// follow watches the runs of an Instance until the one that is wanted has ended, calls changed with each state of it
// and returns the last. It goes on after lost connections and expired versions. If ctx ends first, it returns the
// last state with the error of ctx; the state is nil if the run has not been seen.
func follow(ctx context.Context, c *cluster, instance string, wanted func(*v1beta1.PlanExecution) bool, changed func(*v1beta1.PlanExecution)) (*v1beta1.PlanExecution, error) {
	runs := c.kudo.KudoV1beta1().PlanExecutions(c.namespace)
	selector := fields.OneTermEqualSelector(v1beta1.InstanceNameField, instance).String()
	lister := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return runs.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = selector
			return runs.Watch(ctx, options)
		},
	}
	// The informer retries whatever fails. What will never succeed, such as a missing permission, shows here.
	if _, err := lister.ListWithContextFunc(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return nil, err
	}
	var last *v1beta1.PlanExecution
	_, err := watchtools.UntilWithSync(ctx, cache.ToListWatcherWithWatchListSemantics(lister, c.kudo), &v1beta1.PlanExecution{}, nil,
		func(event watch.Event) (bool, error) {
			run, ok := event.Object.(*v1beta1.PlanExecution)
			if !ok || run.Spec.InstanceName != instance || !wanted(run) {
				return false, nil
			}
			if event.Type == watch.Deleted && !run.Status.Status.IsTerminal() {
				return false, errDeleted
			}
			last = run
			changed(run)
			return run.Status.Status.IsTerminal(), nil
		})
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return last, err
}

// startedBy wants the run that a write to the Instance has started: the one that holds its lock. If the answer of
// the server holds no lock, the run has ended already; then it is any run that is not older than the Instance.
func startedBy(instance *v1beta1.Instance) func(*v1beta1.PlanExecution) bool {
	if uid := instance.Spec.PlanExecution.UID; uid != "" {
		return func(run *v1beta1.PlanExecution) bool { return run.UID == uid }
	}
	return func(run *v1beta1.PlanExecution) bool {
		return !run.CreationTimestamp.Before(&instance.CreationTimestamp)
	}
}

// thisRun wants one run.
func thisRun(run *v1beta1.PlanExecution) func(*v1beta1.PlanExecution) bool {
	return func(other *v1beta1.PlanExecution) bool { return other.UID == run.UID }
}

// outcome is nil if the run has ended well, and otherwise says which step failed and why.
func outcome(run *v1beta1.PlanExecution) error {
	if run.Status.Status != v1beta1.ExecutionFatalError {
		return nil
	}
	plan := fmt.Sprintf("plan %s of instance %s/%s", run.Spec.PlanName, run.Namespace, run.Spec.InstanceName)
	if failed := meta.FindStatusCondition(run.Status.Conditions, v1beta1.FailedConditionType); failed != nil &&
		(failed.Reason == v1beta1.ReasonCancelled || failed.Reason == v1beta1.ReasonSuperseded) {
		return fmt.Errorf("%s was %s", plan, failed.Message) // no step is to blame
	}
	prefix := plan + " failed"
	failedIn := func(phase *v1beta1.PhaseExecutionStatus, step *v1beta1.StepExecutionStatus) error {
		return fmt.Errorf("%s in step %s.%s: %s", prefix, phase.Name, step.Name, cmp.Or(step.Message, phase.Message, run.Status.Message, "no reason was given"))
	}
	// Steps that ran beside the one that failed ended with it. The message of the run is that of the one.
	for p := range run.Status.Phases {
		phase := &run.Status.Phases[p]
		for s := range phase.Steps {
			if step := &phase.Steps[s]; step.Status == v1beta1.ExecutionFatalError && step.Message != "" && strings.Contains(run.Status.Message, step.Message) {
				return failedIn(phase, step)
			}
		}
	}
	for _, phase := range run.Status.Phases {
		for _, step := range phase.Steps {
			if step.Status == v1beta1.ExecutionFatalError {
				return failedIn(&phase, &step)
			}
		}
	}
	return fmt.Errorf("%s: %s", prefix, cmp.Or(run.Status.Message, "no reason was given"))
}
