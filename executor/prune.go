// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
	"kudo.dev/kudo/executor/task"
)

// EventObjectKept is the reason of events about objects that are not deleted though no task applies them any more.
const EventObjectKept = "ObjectKept"

// EventNotPruned is the reason of events that say why nothing was deleted.
const EventNotPruned = "NotPruned"

var jobs = schema.GroupKind{Group: "batch", Kind: "Job"}

// prune deletes what no plan applies any more, when everything else of the plan is done: what replaces it is there by then, and a run that
// fails has taken nothing away. The step that is the last to be done waits for it, so results, which would complete the plan, may become
// those of a step that is not done.
func (c *Controller) prune(ctx context.Context, key string, r *run, pe *v1beta1.PlanExecution, instance *v1beta1.Instance, due []engine.StepRef, results []task.PassResult) {
	if len(due) == 0 || !completes(&pe.Status, due, results) {
		return
	}
	after := pe.Status.DeepCopy()
	for i, ref := range due {
		engine.Record(after, pe.Spec.PlanName, ref, results[i].Result, c.Clock.Now())
	}
	at := len(due) - 1
	env, last := c.env(key, r, pe, instance, due[at]), &results[at]
	// Jobs go by themselves when their time to live is over, and those with names of their own would be listed for ever.
	report := task.Missing(ctx, env, inventory.Unreported(instance, after, jobs))
	last.Objects = append(last.Objects, report.Objects...)
	if report.Outcome == engine.Done && inventory.Prunes(&pe.Spec) {
		report = c.remove(ctx, env, r, pe, instance, inventory.Dropped(instance, after, r.content))
		last.Objects = append(last.Objects, report.Objects...)
	}
	if report.Outcome == engine.Done || len(last.Tasks) == 0 {
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

// remove deletes those of the entries that no plan would apply now.
func (c *Controller) remove(ctx context.Context, env task.Env, r *run, pe *v1beta1.PlanExecution, instance *v1beta1.Instance, entries []v1beta1.InventoryEntry) task.Report {
	if len(entries) == 0 {
		return task.Report{Outcome: engine.Done}
	}
	wanted, err := task.Wanted(ctx, env, r.content)
	if err != nil {
		c.say(instance, pe, r, corev1.EventTypeWarning, EventNotPruned, fmt.Sprintf("nothing is deleted, because it cannot be told what the plans apply: %v", err))
		return task.Report{Outcome: engine.Done}
	}
	entries = slices.DeleteFunc(entries, func(e v1beta1.InventoryEntry) bool { return wanted[inventory.IDOf(e)] })
	r.removal.SharedWith = func(e v1beta1.InventoryEntry) string { return c.sharedWith(ctx, instance, e) }
	report := r.removal.Run(ctx, env, entries)
	for _, text := range r.removal.Kept {
		c.say(instance, pe, r, corev1.EventTypeNormal, EventObjectKept, text)
	}
	return report
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
			if !ok && len(s.Tasks) > 0 {
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

// sharedWith names another Instance that has a cluster-scoped object in its inventory, too, or may have applied it before there were
// inventories.
func (c *Controller) sharedWith(ctx context.Context, instance *v1beta1.Instance, e v1beta1.InventoryEntry) string {
	if e.Namespace == instance.Namespace {
		return ""
	}
	for _, obj := range c.instanceMirror.List() {
		i, ok := obj.(*v1beta1.Instance)
		if !ok || i.UID == instance.UID || i.DeletionTimestamp != nil {
			continue
		}
		if older(i) && c.applied(ctx, i, e) ||
			slices.ContainsFunc(i.Status.Inventory, func(other v1beta1.InventoryEntry) bool { return inventory.IDOf(other) == inventory.IDOf(e) }) {
			return fmt.Sprintf("%s/%s", i.Namespace, i.Name)
		}
	}
	return ""
}

// older tells whether plans of the Instance have run, but none since there are inventories.
func older(i *v1beta1.Instance) bool {
	if len(i.Status.Inventory) > 0 {
		return false
	}
	for _, s := range i.Status.PlanStatus {
		if s.UID != "" {
			return true
		}
	}
	return false
}

// applied tells whether a run of an Instance that is on record applied the object. If that cannot be told, it did.
func (c *Controller) applied(ctx context.Context, i *v1beta1.Instance, e v1beta1.InventoryEntry) bool {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	runs, err := c.Kudo.KudoV1beta1().PlanExecutions(i.Namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(v1beta1.InstanceNameField, i.Name).String()})
	if err != nil {
		return true
	}
	for n := range runs.Items {
		for _, o := range runs.Items[n].Status.Reported() {
			if gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind); !o.Deleted && gvk.Group == e.Group && o.Kind == e.Kind && o.Namespace == e.Namespace && o.Name == e.Name {
				return true
			}
		}
	}
	return false
}

// say makes an event of the Instance and the run, once per run for a text.
func (c *Controller) say(instance *v1beta1.Instance, pe *v1beta1.PlanExecution, r *run, kind, reason, text string) {
	if !r.warned[text] {
		r.warned[text] = true
		c.Events.Event(instance, kind, reason, short(text))
		c.Events.Event(pe, kind, reason, short(text))
	}
}
