// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/pipe"
)

// A task deletes its pod when it is done or has failed. What remains are pods of runs that were ended by somebody else, or while no
// executor was there.

// pipes are the names of what the Pipe tasks of a run store. An error is final.
func pipes(instance string, pe *v1beta1.PlanExecution, content *v1beta1.OperatorVersionSpec) (map[string]string, error) {
	plan := content.Plans[pe.Spec.PlanName]
	return pipe.Names(instance, pe.Spec.PlanName, &plan, content.Tasks)
}

// sweepPipes deletes pipe pods of runs that have ended, in one namespace or, with an empty name, in all.
func (c *Controller) sweepPipes(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.Dynamic.Resource(pipe.Pods.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: pipe.Annotation + "=true," + apply.LabelHeritage + "=" + apply.HeritageValue})
	if err != nil {
		return fmt.Errorf("pods of Pipe tasks cannot be listed: %w", err)
	}
	alive := map[types.UID]bool{}
	for _, obj := range c.runsMirror.List() {
		if pe, ok := obj.(*v1beta1.PlanExecution); ok && !engine.Terminal(pe.Status.Status) {
			alive[pe.UID] = true
		}
	}
	for i := range list.Items {
		pod := &list.Items[i]
		run := types.UID(pod.GetAnnotations()[apply.AnnotationRunUID])
		if run == "" || alive[run] || pod.GetDeletionTimestamp() != nil {
			continue
		}
		ref := apply.RefOf(pod, pipe.Pods)
		if _, err := c.client.DeleteExactly(ctx, ref, pod.GetUID()); err != nil {
			return err
		}
		klog.FromContext(ctx).V(1).Info("Deleted the pod of a Pipe task whose run has ended", "pod", ref.String())
	}
	return nil
}

// sweepPipesOnce sweeps all namespaces when the executor begins, until it has worked once.
func (c *Controller) sweepPipesOnce(ctx context.Context) {
	_ = wait.PollUntilContextCancel(ctx, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.sweepPipes(ctx, metav1.NamespaceAll)
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Info("Cannot look for pods of Pipe tasks whose run has ended; trying again in a minute", "err", err)
		}
		return err == nil, nil
	}) // the error is that the executor ends
}

// endPipes deletes what the Pipe tasks of a run that has ended left.
func (c *Controller) endPipes(ctx context.Context, key string, pe *v1beta1.PlanExecution) error {
	c.mu.Lock()
	r := c.runs[key]
	uses := r != nil && r.uid == pe.UID && len(r.pipes) > 0
	c.mu.Unlock()
	if !uses {
		return nil
	}
	return c.sweepPipes(ctx, pe.Namespace)
}
