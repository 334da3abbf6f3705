// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
	"kudo.dev/kudo/executor/task"
	"kudo.dev/kudo/executor/watch"
	"kudo.dev/kudo/render"
)

const (
	// callTimeout bounds one call to the API.
	callTimeout = 30 * time.Second
	// stepsAtOnce bounds how many steps of one run are carried out at the same moment; more of them take turns.
	stepsAtOnce = 16
)

// carryOut passes over the steps that are due until nothing more can be done now. Every pass begins with the status of
// the pass before stored, so no step begins before it is on record that those before it are complete.
func (c *Controller) carryOut(ctx context.Context, key string, r *run, pe *v1beta1.PlanExecution) error {
	recorded := pe.Status.DeepCopy()
	instance, err := c.prepare(ctx, r, pe, recorded)
	if err != nil {
		return err
	}
	fresh := c.Clock.Since(r.read) >= safetyNet
	var recheck time.Duration
	for {
		if pe, err = c.write(ctx, r, pe, recorded); err != nil {
			return c.dropped(ctx, key, r, err)
		}
		if engine.Terminal(pe.Status.Status) {
			return c.finish(ctx, key, pe)
		}
		c.forgetSteps(key, r, &pe.Status)
		recorded = pe.Status.DeepCopy()
		due := engine.Runnable(recorded, c.Clock.Now())
		results := c.pass(ctx, key, r, pe, instance, due, fresh)
		if ctx.Err() != nil {
			return ctx.Err() // what was interrupted says nothing
		}
		c.prune(ctx, key, r, pe, instance, due, results)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		recheck = 0
		for i, ref := range due {
			res := results[i]
			engine.Record(recorded, pe.Spec.PlanName, ref, res.Result, c.Clock.Now())
			if res.Recheck > 0 && (recheck == 0 || res.Recheck < recheck) {
				recheck = res.Recheck
			}
			c.warnings(instance, pe, r, res.Warnings)
		}
		if fresh {
			fresh, r.read = false, c.Clock.Now()
		}
		if equality.Semantic.DeepEqual(recorded, &pe.Status) {
			break
		}
	}
	c.wakeLater(key, pe, recheck)
	return nil
}

// forgetSteps drops what is remembered of steps that are on record as ended. Not before: if the record cannot be written,
// what the step did must not be done again.
func (c *Controller) forgetSteps(key string, r *run, stored *v1beta1.PlanExecutionStatus) {
	for ref := range r.steps {
		if s := engine.Step(stored, ref); s == nil || engine.Terminal(s.Status) {
			delete(r.steps, ref)
			c.hub.Release(watch.Waiter{Run: key, Step: ref.String()})
		}
	}
}

// pass carries out steps at the same time and returns their results in the order of due.
func (c *Controller) pass(ctx context.Context, key string, r *run, pe *v1beta1.PlanExecution, instance *v1beta1.Instance, due []engine.StepRef, fresh bool) []task.PassResult {
	results := make([]task.PassResult, len(due))
	records := inventory.Of(instance, &pe.Status)
	var group errgroup.Group
	group.SetLimit(stepsAtOnce)
	for i, ref := range due {
		step := r.steps[ref]
		if step == nil {
			step = &task.Step{}
			r.steps[ref] = step
		}
		group.Go(func() error {
			logger := klog.FromContext(ctx).WithValues("step", ref.String())
			env := c.env(key, r, pe, instance, ref)
			env.Fresh, env.Records = fresh, records
			results[i] = step.Pass(klog.NewContext(ctx, logger), env, r.content.Tasks, engine.Step(&pe.Status, ref))
			results[i].Spread = rand.Float64()
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors
	return results
}

func (c *Controller) env(key string, r *run, pe *v1beta1.PlanExecution, instance *v1beta1.Instance, ref engine.StepRef) task.Env {
	v := r.content
	return task.Env{
		Client: c.client, Kudo: c.Kudo, Hub: c.hub, Lookup: c.storage, Pods: c.Pods, PipeImage: c.PipeImage, StuckLimit: c.StuckLimit, Clock: c.Clock,
		Waiter: watch.Waiter{Run: key, Step: ref.String()},
		Identity: apply.Identity{Namespace: pe.Namespace, Instance: instance.Name, InstanceUID: instance.UID, Operator: v.Operator.Name, OperatorVersion: v.Version,
			Run: pe.Name, RunUID: pe.UID, Plan: pe.Spec.PlanName, Phase: ref.Phase, Step: ref.Step},
		Describes: inventory.Describes(&pe.Spec),
		Version:   pe.Spec.OperatorVersion, Templates: v.Templates,
		Variables: render.Variables{OperatorName: v.Operator.Name, Name: instance.Name, Namespace: pe.Namespace, AppVersion: v.AppVersion, OperatorVersion: v.Version,
			PlanName: pe.Spec.PlanName, PhaseName: ref.Phase, StepName: ref.Step, Params: r.params, Pipes: r.pipes},
	}
}

// prepare reads what the run works with. What cannot be mended ends the run in status; other errors are returned.
func (c *Controller) prepare(ctx context.Context, r *run, pe *v1beta1.PlanExecution, status *v1beta1.PlanExecutionStatus) (*v1beta1.Instance, error) {
	now := c.Clock.Now()
	instance, err := c.instance(ctx, pe)
	if err == nil {
		err = c.load(ctx, r, pe)
	}
	if err != nil {
		reason, final := fault.Classify(err)
		if !final {
			return nil, err
		}
		engine.Fail(status, reason, err.Error(), now)
		return instance, nil
	}
	engine.Init(r.content, pe.Spec.PlanName, status, now)
	if r.pipes == nil && !engine.Terminal(status.Status) {
		if err = task.Check(pe.Spec.PlanName, r.content); err == nil {
			r.pipes, err = pipes(instance.Name, pe, r.content)
		}
		if err != nil {
			reason, _ := fault.Classify(err)
			engine.Fail(status, reason, err.Error(), now)
		}
	}
	return instance, nil
}

// wakeLater has the run looked at again when something is due without an event.
func (c *Controller) wakeLater(key string, pe *v1beta1.PlanExecution, recheck time.Duration) {
	delay := safetyNet
	if next := engine.NextTime(&pe.Spec, &pe.Status); !next.IsZero() {
		// What fell due during the pass is done at once. It cannot come up again and again: a try clears or renews its time,
		// and the deadline ends the run.
		delay = max(0, min(delay, next.Sub(c.Clock.Now())))
	}
	if recheck > 0 {
		delay = min(delay, recheck)
	}
	c.queue.AddAfter(key, delay)
}

// dropped forgets a run that is no longer ours to write; any other error is returned.
func (c *Controller) dropped(ctx context.Context, key string, r *run, err error) error {
	var d *droppedError
	if !errors.As(err, &d) {
		return err
	}
	klog.FromContext(ctx).Info("Dropped the run", "why", d.why)
	r.dropped = d.version
	r.steps = map[engine.StepRef]*task.Step{}
	c.hub.Release(watch.Waiter{Run: key})
	return nil
}
