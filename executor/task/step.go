// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
)

// Step carries out the tasks of one step of one run, pass by pass. It is used by one goroutine at a time.
type Step struct {
	runners map[string]Runner
}

// PassResult is what one pass over the tasks came to.
type PassResult struct {
	engine.Result
	// Recheck is as in Report, the least of all tasks.
	Recheck  time.Duration
	Warnings []string
}

// Pass invokes the tasks that are not recorded as complete, in the order of the step. A task that holds ends the pass.
func (s *Step) Pass(ctx context.Context, env Env, defined []v1beta1.Task, recorded *v1beta1.StepExecutionStatus) (out PassResult) {
	if s.runners == nil {
		s.runners = map[string]Runner{}
	}
	for _, t := range recorded.Tasks {
		if t.Status == v1beta1.ExecutionComplete {
			continue
		}
		env.Task = t.Name
		report := s.invoke(ctx, env, defined, t.Name)
		result := engine.TaskResult{Task: t.Name, Outcome: report.Outcome, Message: report.Message}
		if report.Err != nil {
			result.Reason, _ = fault.Classify(report.Err)
			result.Message, result.RetryAfter = report.Err.Error(), fault.RetryAfter(report.Err)
		}
		out.Tasks = append(out.Tasks, result)
		out.Objects = append(out.Objects, report.Objects...)
		out.Warnings = append(out.Warnings, report.Warnings...)
		if report.Recheck > 0 && (out.Recheck == 0 || report.Recheck < out.Recheck) {
			out.Recheck = report.Recheck
		}
		if report.Holds {
			break
		}
		env.Ahead = ahead(env.Ahead, t.Name, report)
	}
	return out
}

// ahead adds the objects with which a task is not done: a later task that deletes them has to wait.
func ahead(known map[inventory.ID]string, task string, report Report) map[inventory.ID]string {
	if report.Outcome == engine.Done {
		return known
	}
	out := map[inventory.ID]string{}
	maps.Copy(out, known)
	for _, o := range report.Objects {
		if gv, err := schema.ParseGroupVersion(o.APIVersion); err == nil {
			out[inventory.ID{Group: gv.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = task
		}
	}
	return out
}

func (s *Step) invoke(ctx context.Context, env Env, defined []v1beta1.Task, name string) (report Report) {
	defer func() {
		if r := recover(); r != nil {
			// One operator's template must not take the executor of all others down.
			klog.FromContext(ctx).Error(fmt.Errorf("%v", r), "A task panicked", "task", name, "stack", string(debug.Stack()))
			report = stopped(fault.Finalf(fault.ReasonTaskKind, "the executor met an error of its own: %v; please report it with the operator package", r))
		}
	}()
	runner, ok := s.runners[name]
	if !ok {
		for _, d := range defined {
			if d.Name == name {
				made, err := New(d)
				if err != nil {
					return stopped(err)
				}
				runner, ok = made, true
				break
			}
		}
		if !ok {
			return stopped(fault.Finalf(fault.ReasonTaskKind, "the OperatorVersion defines no task %q", name))
		}
		s.runners[name] = runner
	}
	return runner.Run(ctx, env)
}
