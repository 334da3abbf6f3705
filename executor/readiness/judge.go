// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package readiness

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/watch"
)

// Reasons of the condition. The first four are KUDO's.
const (
	ReasonReady    = "ResourcesReady"
	ReasonNotReady = "ResourceNotReady"
	reasonFailed   = "PlanInFatalError"
	// reasonInProgress is written by the server, as reasonFailed is.
	reasonInProgress = "PlanInProgress"
	// ReasonUnknown says that objects cannot be seen.
	ReasonUnknown = "ResourcesUnknown"
)

// unseenRecheck is how often an object is looked for of which no event comes: it lost KUDO's label, or nobody serves its kind.
const unseenRecheck = time.Minute

// shown is how many objects a message names.
const shown = 5

// ours tells whether the condition is the executor's to write: no plan runs, and the last one has not failed.
func ours(i *v1beta1.Instance) bool {
	if i.Spec.PlanExecution.UID != "" || i.Spec.PlanExecution.PlanName != "" {
		return false
	}
	c := meta.FindStatusCondition(i.Status.Conditions, v1beta1.ReadyConditionType)
	if c == nil {
		return len(i.Status.Inventory) > 0 // without one nothing has been applied yet
	}
	return c.Reason != reasonFailed
}

// verdict is what the objects of an Instance come to.
type verdict struct {
	// wait says that it cannot be told yet, and that the hub calls when it can.
	wait            bool
	status          metav1.ConditionStatus
	reason, message string
	again           time.Duration
}

// place is where an object of an inventory is.
type place struct {
	ref apply.Ref
	key watch.Key
}

func (c *Controller) place(e v1beta1.InventoryEntry) (place, error) {
	gvk := schema.GroupVersionKind{Group: e.Group, Version: e.Version, Kind: e.Kind}
	ref, err := c.Client.Kinds.Find(context.Background(), gvk, e.Name)
	if err != nil {
		return place{}, err
	}
	ref.Namespace = e.Namespace
	return place{ref, watch.Key{GroupVersionResource: ref.GroupVersionResource, Namespace: e.Namespace, Name: e.Name}}, nil
}

func (c *Controller) judge(ctx context.Context, key string, k *known, i *v1beta1.Instance) verdict {
	var bad, unseen []string
	v := verdict{}
	for _, e := range i.Status.Inventory {
		named := name(e)
		obj, again, wait, err := c.find(ctx, key, e)
		if again > 0 && (v.again == 0 || again < v.again) {
			v.again = again
		}
		switch {
		case wait:
			v.wait = true // and go on, so that all informers start at once
			continue
		case err != nil:
			unseen = append(unseen, fmt.Sprintf("%s: %v", named, err))
			continue
		case obj == nil && (e.UID == "" || e.Group == "batch" && e.Kind == "Job"):
			continue // it was never applied, or has done its work: many Jobs are made to go when they have finished
		case obj == nil:
			bad = append(bad, named+": not found")
			continue
		}
		if r := c.check(obj); !r.Ready {
			bad = append(bad, named+": "+r.Message+c.why(key, k, i, obj))
		} else if k.pods[obj.GetUID()] {
			delete(k.pods, obj.GetUID())
			if len(k.pods) == 0 {
				c.Hub.Release(watch.Waiter{Run: Waiters + key, Step: podsStep})
			}
		}
	}
	switch {
	case len(bad) > 0:
		v.status, v.reason, v.message = metav1.ConditionFalse, ReasonNotReady, list(bad)
	case len(unseen) > 0:
		v.status, v.reason, v.message = metav1.ConditionUnknown, ReasonUnknown, list(unseen)
	default:
		v.status, v.reason = metav1.ConditionTrue, ReasonReady
	}
	return v
}

// check is that of the package health, but that a child Instance is as ready as it says.
func (c *Controller) check(obj *unstructured.Unstructured) health.Result {
	if obj.GroupVersionKind().GroupKind() == v1beta1.Kind("Instance") {
		return ofChild(obj)
	}
	return health.Check(obj, c.Lookup)
}

// ofChild does not ask whether a plan of the child runs: a backup of it is no trouble of its parent's, nor is a deploy before it has
// failed.
func ofChild(obj *unstructured.Unstructured) health.Result {
	child := &v1beta1.Instance{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, child); err != nil {
		return health.Result{Message: err.Error()}
	}
	if child.DeletionTimestamp != nil {
		return health.Result{Message: "it is being deleted"}
	}
	own := meta.FindStatusCondition(child.Status.Conditions, v1beta1.ReadyConditionType)
	if own == nil || own.Status == metav1.ConditionTrue || own.Status == metav1.ConditionUnknown && own.Reason == reasonInProgress {
		return health.Result{Ready: true}
	}
	return health.Result{Message: cmp.Or(own.Message, own.Reason)}
}

// find returns an object as it stands, nil if there is none. wait says that the informer will tell.
func (c *Controller) find(ctx context.Context, key string, e v1beta1.InventoryEntry) (obj *unstructured.Unstructured, again time.Duration, wait bool, err error) {
	at, err := c.place(e)
	if err != nil {
		if meta.IsNoMatchError(err) || unknownKind(err) {
			return nil, unseenRecheck, false, nil // of a kind that the cluster does not have there are no objects
		}
		return nil, unseenRecheck, false, err
	}
	c.Hub.Track(watch.Waiter{Run: Waiters + key, Step: objectsStep}, at.key) // which it may do already
	view := c.Hub.Look(at.key)
	switch {
	case view.Object != nil:
		return view.Object, 0, false, nil // while an informer has no connection this is the best that is known
	case !view.Synced && view.Err == nil:
		return nil, unseenRecheck, true, nil
	}
	// Not there, or without the label by which the informers see objects, or not to be watched.
	obj, err = c.Client.Get(ctx, at.ref)
	if obj != nil || err != nil {
		again = unseenRecheck
	}
	return obj, again, false, err
}

// The waiters of an Instance for the objects themselves, and for their pods.
const (
	objectsStep = "objects"
	podsStep    = "pods"
)

// why says what is wrong with the pods of an object that is not ready.
func (c *Controller) why(key string, k *known, i *v1beta1.Instance, obj *unstructured.Unstructured) string {
	var pods []*unstructured.Unstructured
	switch {
	case watch.IsPod(obj):
		pods = append(pods, obj)
	case watch.HasPods(obj):
		if !k.pods[obj.GetUID()] {
			c.Hub.TrackPods(watch.Waiter{Run: Waiters + key, Step: podsStep}, obj, i.Name)
			k.pods[obj.GetUID()] = true
		}
		pods = c.Hub.Pods(obj)
	}
	if text := health.Describe(health.Troubles(pods, c.Clock.Now())); text != "" {
		return "; " + text
	}
	return ""
}

func name(e v1beta1.InventoryEntry) string {
	if e.Namespace == "" {
		return e.Kind + " " + e.Name
	}
	return e.Kind + " " + e.Namespace + "/" + e.Name
}

func list(parts []string) string {
	if more := len(parts) - shown; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(parts[:shown], "; "), more)
	}
	return strings.Join(parts, "; ")
}
