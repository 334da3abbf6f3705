// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
)

// Component is the source of the executor's events.
const Component = "kudo-executor"

// Reasons of events. The first two and their messages are KUDO's; tools look for them.
const (
	EventPlanStarted    = "PlanStarted"
	EventPlanFinished   = "PlanFinished"
	EventPackageWarning = "PackageWarning"
)

// announce makes events of what a stored status says for the first time.
func (c *Controller) announce(before, after *v1beta1.PlanExecution) {
	on := c.subjects(after)
	plan := after.Spec.PlanName
	if before.Status.StartTime == nil && after.Status.StartTime != nil {
		for _, o := range on {
			c.Events.Eventf(o, corev1.EventTypeNormal, EventPlanStarted, "Execution of plan %s started", plan)
		}
	}
	if engine.Terminal(before.Status.Status) || !engine.Terminal(after.Status.Status) {
		return
	}
	finished(after)
	for _, o := range on {
		if failed := meta.FindStatusCondition(after.Status.Conditions, v1beta1.FailedConditionType); failed != nil {
			c.Events.Event(o, corev1.EventTypeWarning, failed.Reason, short(failed.Message))
		}
		c.Events.Eventf(o, corev1.EventTypeNormal, EventPlanFinished, "Execution of plan %s finished with status %s", plan, after.Status.Status)
	}
}

// announceEnded makes an event of the end of a run that the server has ended. Its message says who asked for it.
func (c *Controller) announceEnded(pe *v1beta1.PlanExecution) {
	failed := meta.FindStatusCondition(pe.Status.Conditions, v1beta1.FailedConditionType)
	if failed == nil || failed.Reason != v1beta1.ReasonCancelled && failed.Reason != v1beta1.ReasonSuperseded {
		return // the executor ended it, and said so
	}
	finished(pe)
	for _, o := range c.subjects(pe) {
		c.Events.Event(o, corev1.EventTypeNormal, failed.Reason, short(fmt.Sprintf("Execution of plan %s was %s", pe.Spec.PlanName, failed.Message)))
	}
}

// warnings makes events of what the author of a package should know, once per run each.
func (c *Controller) warnings(instance *v1beta1.Instance, pe *v1beta1.PlanExecution, r *run, texts []string) {
	for _, text := range texts {
		if !r.warned[text] {
			r.warned[text] = true
			c.Events.Event(instance, corev1.EventTypeWarning, EventPackageWarning, short(text))
			c.Events.Event(pe, corev1.EventTypeWarning, EventPackageWarning, short(text))
		}
	}
}

// subjects are the run and its Instance, if that is there.
func (c *Controller) subjects(pe *v1beta1.PlanExecution) []runtime.Object {
	out := []runtime.Object{pe}
	if i, err := c.instances.Instances(pe.Namespace).Get(pe.Spec.InstanceName); err == nil && owns(i, pe) {
		out = append(out, i)
	}
	return out
}

// maxEvent is the length that the API allows the note of an event.
const maxEvent = 1024

func short(s string) string {
	if len(s) <= maxEvent {
		return s
	}
	return strings.ToValidUTF8(s[:maxEvent-3], "") + "…"
}
