// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
	"kudo.dev/kudo/executor/task"
)

// EventObjectKept is the reason of events about objects that are not deleted though no task applies them any more.
const EventObjectKept = "ObjectKept"

// prune deletes what no task applies any more, when everything else of the plan is done: what replaces it is there by then, and a run that
// fails has taken nothing away. The step that is the last to be done waits for it, so results, which would complete the plan, may become
// those of a step that is not done.
func (c *Controller) prune(ctx context.Context, key string, r *run, pe *v1beta1.PlanExecution, instance *v1beta1.Instance, due []engine.StepRef, results []task.PassResult) {
	if len(due) == 0 || !inventory.Prunes(&pe.Spec) || !completes(&pe.Status, due, results) {
		return
	}
	after := pe.Status.DeepCopy()
	for i, ref := range due {
		engine.Record(after, pe.Spec.PlanName, ref, results[i].Result, c.Clock.Now())
	}
	entries := inventory.Dropped(instance, after, r.content.Tasks)
	if len(entries) == 0 {
		return
	}
	at := len(due) - 1
	r.removal.SharedWith = func(e v1beta1.InventoryEntry) string { return c.sharedWith(instance, e) }
	report := r.removal.Run(ctx, c.env(key, r, pe, instance, due[at]), entries)
	c.kept(instance, pe, r, r.removal.Kept)
	last := &results[at]
	last.Objects = append(last.Objects, report.Objects...)
	if report.Outcome == engine.Done {
		return
	}
	t := &last.Tasks[len(last.Tasks)-1]
	t.Outcome, t.Message = report.Outcome, report.Message
	last.Recheck = report.Recheck
	if report.Err != nil {
		t.Reason, _ = fault.Classify(report.Err)
		t.Message, t.RetryAfter = report.Err.Error(), fault.RetryAfter(report.Err)
	}
}

// completes tells whether every step of the plan is complete once the results of those that are due are recorded.
func completes(status *v1beta1.PlanExecutionStatus, due []engine.StepRef, results []task.PassResult) bool {
	after := map[engine.StepRef]map[string]bool{}
	for i, ref := range due {
		after[ref] = map[string]bool{}
		for _, t := range results[i].Tasks {
			after[ref][t.Task] = t.Outcome == engine.Done
		}
	}
	for _, p := range status.Phases {
		for _, s := range p.Steps {
			if s.Status == v1beta1.ExecutionComplete {
				continue
			}
			done, ok := after[engine.StepRef{Phase: p.Name, Step: s.Name}]
			if !ok {
				return false
			}
			for _, t := range s.Tasks {
				if t.Status != v1beta1.ExecutionComplete && !done[t.Name] {
					return false
				}
			}
		}
	}
	return true
}

// sharedWith names another Instance that has a cluster-scoped object in its inventory, too.
func (c *Controller) sharedWith(instance *v1beta1.Instance, e v1beta1.InventoryEntry) string {
	if e.Namespace == instance.Namespace {
		return ""
	}
	for _, obj := range c.instanceMirror.List() {
		i, ok := obj.(*v1beta1.Instance)
		if !ok || i.UID == instance.UID || i.DeletionTimestamp != nil {
			continue
		}
		for _, other := range i.Status.Inventory {
			if inventory.IDOf(other) == inventory.IDOf(e) {
				return fmt.Sprintf("%s/%s", i.Namespace, i.Name)
			}
		}
	}
	return ""
}

// kept makes events of objects that are not deleted, once per run each.
func (c *Controller) kept(instance *v1beta1.Instance, pe *v1beta1.PlanExecution, r *run, texts []string) {
	for _, text := range texts {
		if !r.warned[text] {
			r.warned[text] = true
			c.Events.Event(instance, corev1.EventTypeNormal, EventObjectKept, short(text))
			c.Events.Event(pe, corev1.EventTypeNormal, EventObjectKept, short(text))
		}
	}
}
