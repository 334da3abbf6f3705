// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"cmp"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/task"
	"kudo.dev/kudo/executor/watch"
)

// run is what the executor remembers of a run between passes. Losing it costs calls, nothing else. It is used by one
// worker at a time, because the queue hands out a key to one worker at a time.
type run struct {
	uid types.UID
	// latest is the PlanExecution as we last wrote it, or first read it. The informer may be behind it; we never are.
	latest *v1beta1.PlanExecution
	// content and params are what the run was started with; they cannot change.
	content *v1beta1.OperatorVersionSpec
	params  map[string]any
	// pipes are the names of what the Pipe tasks of the plan store, by their keys; nil until they are known.
	pipes map[string]string
	// steps is what was done to the cluster and seen of it. It stays true whoever wrote the stored status and however many answers
	// of writes were lost, so it goes only with the step's own end: without it the step would do again what it has done.
	steps  map[engine.StepRef]*task.Step
	warned map[string]bool
	// removal is what was done to objects that no task applies any more.
	removal task.Removal
	// read is when the cluster was last read without an event.
	read time.Time
	// dropped is the resourceVersion at which the server would not take a write of ours.
	dropped string
	// lastError is the last error that was logged.
	lastError string
}

// sync does for one run all that can be done now. If it is interrupted, the event that did so has the run looked at again.
func (c *Controller) sync(ctx context.Context, key string) error {
	// This comes before the run is read, so that its end is either seen now or interrupts the work later.
	working, done := c.interruptible(ctx, key)
	defer done()
	err := c.advance(working, key)
	if working.Err() != nil && ctx.Err() == nil {
		klog.FromContext(ctx).V(2).Info("Stopped in the middle: the run has ended or lost its Instance")
		return nil
	}
	return err
}

func (c *Controller) advance(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil // not a key of ours
	}
	pe, err := c.executions.PlanExecutions(namespace).Get(name)
	if err != nil {
		c.forget(key)
		return nil // a lister has but one error: the run is gone
	}
	if !engine.Terminal(pe.Status.Status) {
		instance := namespace + "/" + pe.Spec.InstanceName
		if !c.turns.take(instance, key) {
			return nil // it is woken when the other run's turn has ended
		}
		defer func() {
			for _, waiting := range c.turns.end(instance) {
				c.queue.Add(waiting)
			}
		}()
	}
	r := c.runOf(key, pe.UID)
	if pe, err = c.newest(ctx, r, pe); pe == nil || err != nil {
		return err
	}
	if engine.Terminal(pe.Status.Status) {
		return c.finish(ctx, key, pe)
	}
	if r.dropped != "" && r.dropped == pe.ResourceVersion {
		return nil
	}
	if lost, err := c.lostLock(ctx, pe); err != nil || lost {
		return c.dropped(ctx, key, r, cmp.Or(err, error(&droppedError{"its Instance is not locked by it", pe.ResourceVersion})))
	}
	return c.carryOut(ctx, key, r, pe)
}

// runOf returns what is remembered of a run; nothing of one that had the same name.
func (c *Controller) runOf(key string, uid types.UID) *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[key]
	if r == nil || r.uid != uid {
		r = &run{uid: uid, steps: map[engine.StepRef]*task.Step{}, warned: map[string]bool{}, read: c.Clock.Now()}
		c.runs[key] = r
		c.hub.Release(watch.Waiter{Run: key})
	}
	return r
}

func (c *Controller) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[key] != nil {
		delete(c.runs, key)
		c.hub.Release(watch.Waiter{Run: key})
	}
}

// newest returns the newer of the informer's copy and our own. The first time it asks the server, because after a restart
// the informer may have been given an older state than the executor before us wrote. It returns nil if the run is gone.
func (c *Controller) newest(ctx context.Context, r *run, cached *v1beta1.PlanExecution) (*v1beta1.PlanExecution, error) {
	if engine.Terminal(cached.Status.Status) {
		return cached, nil
	}
	if r.latest != nil {
		order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, r.latest.ResourceVersion)
		switch {
		case err == nil && order > 0:
			r.latest = cached
			return cached, nil
		case err == nil:
			return r.latest, nil
		}
	}
	live, err := c.get(ctx, cached)
	if err == nil && live != nil {
		r.latest = live
	}
	return live, err
}

// get reads a run; nil if it is gone or another one has its name.
func (c *Controller) get(ctx context.Context, pe *v1beta1.PlanExecution) (*v1beta1.PlanExecution, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	live, err := c.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Get(ctx, pe.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.UID != pe.UID {
		return nil, nil
	}
	return withoutLog(live), err
}

// logOnce logs an error when it is another one than the last of this run: while the API server is away every run has the
// same one over and over.
func (c *Controller) logOnce(logger klog.Logger, key string, err error) {
	c.mu.Lock()
	r := c.runs[key]
	repeated := r != nil && r.lastError == err.Error()
	if r != nil {
		r.lastError = err.Error()
	}
	c.mu.Unlock()
	if repeated {
		logger.V(4).Info("Still cannot go on with the run", "err", err)
		return
	}
	logger.Info("Cannot go on with the run now; trying again until it works", "err", err)
}
