// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
)

// interruptible returns a context for the work on a run that ends when the run ends or loses its Instance. done has to be called
// when the work is over. One worker at a time works on a run.
func (c *Controller) interruptible(ctx context.Context, key string) (working context.Context, done func()) {
	working, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	c.working[key] = cancel
	c.mu.Unlock()
	return working, func() {
		c.mu.Lock()
		delete(c.working, key)
		c.mu.Unlock()
		cancel()
	}
}

// wake has a run looked at, and first, if it cannot go on as it is, ends what is under way for it.
func (c *Controller) wake(key string, interrupt bool) {
	if interrupt {
		c.mu.Lock()
		if cancel := c.working[key]; cancel != nil {
			cancel()
		}
		c.mu.Unlock()
	}
	c.queue.Add(key)
}

// runChanged wakes a run. It is interrupted if somebody has ended it: the server does when a run is cancelled or another one takes
// its Instance over.
func (c *Controller) runChanged(old, obj any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return
	}
	before, known := old.(*v1beta1.PlanExecution)
	after, ok := obj.(*v1beta1.PlanExecution)
	if !known || !ok {
		c.wake(key, false)
		return
	}
	ended := engine.Terminal(after.Status.Status) && !engine.Terminal(before.Status.Status)
	c.wake(key, ended || before.UID != after.UID)
	if ended && before.UID == after.UID {
		c.announceEnded(after)
	}
}

func (c *Controller) runDeleted(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.wake(key, true)
	}
}

// instanceChanged interrupts the runs of an Instance that has been given to another one, or is being deleted without a cleanup.
func (c *Controller) instanceChanged(old, obj any) {
	before, known := old.(*v1beta1.Instance)
	after, ok := obj.(*v1beta1.Instance)
	if ok {
		c.readiness.Enqueue(after.Namespace + "/" + after.Name)
	}
	if ok && departs(after) {
		c.queue.Add(departing + after.Namespace + "/" + after.Name)
	}
	if known && ok && before.DeletionTimestamp == nil && after.DeletionTimestamp != nil {
		c.wakeRuns(after, func(pe *v1beta1.PlanExecution) bool { return !engine.Terminal(pe.Status.Status) && forsaken(after, pe) })
	}
	if !known || !ok || before.UID == after.UID && before.Spec.PlanExecution.UID == after.Spec.PlanExecution.UID {
		return
	}
	c.wakeRuns(after, func(pe *v1beta1.PlanExecution) bool {
		if engine.Terminal(pe.Status.Status) || pe.UID == after.Spec.PlanExecution.UID {
			return false
		}
		// A lock is taken before its run is stored: what is older than the run knows nothing of it.
		order, err := resourceversion.CompareResourceVersion(after.ResourceVersion, pe.ResourceVersion)
		return err != nil || order > 0
	})
}

// instanceDeleted wakes the runs of an Instance, which end because of it.
func (c *Controller) instanceDeleted(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.queue.Add(departing + key)
		c.readiness.Enqueue(key)
	}
	c.wakeRuns(obj, func(*v1beta1.PlanExecution) bool { return true })
}

// wakeRuns interrupts and wakes those runs of an Instance that are meant.
func (c *Controller) wakeRuns(instance any, meant func(*v1beta1.PlanExecution) bool) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(instance)
	if err != nil {
		return
	}
	runs, err := c.runsMirror.ByIndex(instanceIndex, key)
	if err != nil {
		return
	}
	for _, obj := range runs {
		if pe, ok := obj.(*v1beta1.PlanExecution); ok && meant(pe) {
			c.wake(pe.Namespace+"/"+pe.Name, true)
		}
	}
}

// lostLock tells whether the Instance of a run exists and is not locked by the run. As long as the informer says that it is, it is
// taken at its word: a lock that is lost makes an event.
func (c *Controller) lostLock(ctx context.Context, pe *v1beta1.PlanExecution) (bool, error) {
	i, err := c.instances.Instances(pe.Namespace).Get(pe.Spec.InstanceName)
	if err != nil || !owns(i, pe) || i.Spec.PlanExecution.UID == pe.UID {
		return false, nil // a lister has but one error: the Instance is gone, which ends the run
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	i, err = c.Kudo.KudoV1beta1().Instances(pe.Namespace).Get(ctx, pe.Spec.InstanceName, metav1.GetOptions{}) // the informer may be behind
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && owns(i, pe) && i.Spec.PlanExecution.UID != pe.UID, err
}
