// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// finish deletes a run that has ended if that is due, and forgets it. It is not forgotten before: what is known of it says
// which error was logged.
func (c *Controller) finish(ctx context.Context, key string, pe *v1beta1.PlanExecution) error {
	if err := c.endPipes(ctx, key, pe); err != nil {
		return err
	}
	if err := c.expire(ctx, key, pe); err != nil {
		return err
	}
	c.forget(key)
	return nil
}

// expire deletes a finished run when its time to live is over, and comes back then if it is not.
func (c *Controller) expire(ctx context.Context, key string, pe *v1beta1.PlanExecution) error {
	if pe.Spec.TTLSecondsAfterFinished == nil || pe.Status.CompletionTime == nil || pe.DeletionTimestamp != nil {
		return nil
	}
	end := pe.Status.CompletionTime.Add(time.Duration(*pe.Spec.TTLSecondsAfterFinished) * time.Second)
	if left := end.Sub(c.Clock.Now()); left > 0 {
		c.queue.AddAfter(key, left)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	// With the version as precondition nothing is deleted whose time to live was changed a moment ago.
	err := c.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Delete(ctx, pe.Name, metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &pe.UID, ResourceVersion: &pe.ResourceVersion},
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return nil // it was changed; the informer brings the change
	case err == nil:
		klog.FromContext(ctx).V(2).Info("Deleted the finished run", "ttlSecondsAfterFinished", *pe.Spec.TTLSecondsAfterFinished)
	}
	return err
}
