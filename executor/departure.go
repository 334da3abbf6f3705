// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/task"
	"kudo.dev/kudo/executor/watch"
)

// EventCannotDelete is the reason of events about objects that hold up the deletion of an Instance.
const EventCannotDelete = "CannotDeleteObjects"

const (
	// departing begins the keys of Instances in the queue of runs. No namespace has a slash in it.
	departing = "instance/"
	// departureRetry is how often a deletion that failed is tried again. Most often somebody has to grant a permission first.
	departureRetry = 30 * time.Second
)

// departure is what is remembered of an Instance that is being deleted.
type departure struct {
	uid     types.UID
	removal task.Removal
	said    map[string]bool
}

// departs tells whether an Instance waits for us alone: it is being deleted, no run holds it, its cleanup is over, and the inventory has
// objects that do not go with it.
func departs(i *v1beta1.Instance) bool {
	return i.DeletionTimestamp != nil && i.Spec.PlanExecution.UID == "" &&
		slices.Contains(i.Finalizers, v1beta1.InventoryFinalizer) && !slices.Contains(i.Finalizers, v1beta1.CleanupFinalizer)
}

// depart deletes what the Instance applied and cannot own. The server takes the finalizer off when the last of it has left the inventory.
func (c *Controller) depart(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(strings.TrimPrefix(key, departing))
	if err != nil {
		return nil // not a key of ours
	}
	cached, err := c.instances.Instances(namespace).Get(name)
	if err != nil || !departs(cached) {
		c.departed(key)
		return nil // a lister has but one error: it is gone
	}
	instance, err := c.departure(ctx, namespace, name)
	if err != nil || instance == nil {
		return err
	}
	d := c.departureOf(key, instance.UID)
	entries, rest := foreign(instance)
	d.removal.SharedWith = func(e v1beta1.InventoryEntry) string { return c.sharedWith(ctx, instance, e) }
	env := task.Env{Client: c.client, Hub: c.hub, Waiter: watch.Waiter{Run: key}, Identity: apply.Identity{Namespace: namespace, Instance: name, InstanceUID: instance.UID}}
	report := d.removal.Run(ctx, env, entries)
	if report.Err != nil {
		c.sayOf(d, instance, corev1.EventTypeWarning, EventCannotDelete, fmt.Sprintf("%v; trying again. To do without it, take the finalizer %s off the Instance; the objects of its inventory then stay", report.Err, v1beta1.InventoryFinalizer))
		klog.FromContext(ctx).Info("Cannot delete what a deleted Instance leaves behind; trying again", "err", report.Err)
		c.queue.AddAfter(key, departureRetry)
		return nil
	}
	for _, text := range d.removal.Kept {
		c.sayOf(d, instance, corev1.EventTypeNormal, EventObjectKept, text)
	}
	if report.Outcome == engine.Waiting {
		c.queue.AddAfter(key, report.Recheck)
		return nil
	}
	instance = instance.DeepCopy()
	instance.Status.Inventory = rest
	callCtx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = c.Kudo.KudoV1beta1().Instances(namespace).UpdateStatus(callCtx, instance, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// departure reads the Instance, whose inventory has to be the newest; nil if it does not depart.
func (c *Controller) departure(ctx context.Context, namespace, name string) (*v1beta1.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	i, err := c.Kudo.KudoV1beta1().Instances(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !departs(i) {
		return nil, nil
	}
	return i, err
}

// foreign parts the inventory into what the Instance cannot own and the rest.
func foreign(i *v1beta1.Instance) (entries, rest []v1beta1.InventoryEntry) {
	for _, e := range i.Status.Inventory {
		if e.Namespace == i.Namespace {
			rest = append(rest, e)
		} else {
			entries = append(entries, e)
		}
	}
	return entries, rest
}

func (c *Controller) departureOf(key string, uid types.UID) *departure {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.departures[key]
	if d == nil || d.uid != uid {
		d = &departure{uid: uid, said: map[string]bool{}}
		c.departures[key] = d
	}
	return d
}

func (c *Controller) departed(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.departures[key] != nil {
		delete(c.departures, key)
		c.hub.Release(watch.Waiter{Run: key})
	}
}

func (c *Controller) sayOf(d *departure, i *v1beta1.Instance, kind, reason, text string) {
	if !d.said[text] {
		d.said[text] = true
		c.Events.Event(i, kind, reason, short(text))
	}
}
