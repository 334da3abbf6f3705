// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/watch"
)

// crew is what is known of the pods of an object that is not ready.
type crew struct {
	tracked bool
	spells  health.Spells
}

// explain says what is wrong with the pods of an object that is not ready, and fails if one of them has been stuck for longer than
// it may. recheck is when to look again though nothing happens.
func (c *crew) explain(current *unstructured.Unstructured, ref apply.Ref, env Env) (detail string, recheck time.Duration, err error) {
	var troubles []health.Trouble
	now := env.now()
	switch {
	case watch.IsPod(current):
		troubles = health.Troubles([]*unstructured.Unstructured{current}, now)
	case watch.HasPods(current):
		if !c.tracked {
			env.Hub.TrackPods(env.Waiter, current, env.Identity.Instance)
			c.tracked = true
		}
		troubles = health.Troubles(env.Hub.Pods(current), now)
	default:
		return "", 0, nil
	}
	if len(troubles) == 0 {
		recheck = health.Slow // by then a pod that does not start for no reason given is worth a word
	}
	if current.GetKind() == "Job" {
		for i := range troubles { // a Job counts its crashes by itself
			troubles[i].Stuck = troubles[i].Stuck && !troubles[i].Crashes
		}
	}
	limit, err := health.StuckLimit(current, env.StuckLimit)
	longest, since := c.spells.Longest(troubles, now)
	if err != nil || limit == 0 || longest == nil {
		return health.Describe(troubles), recheck, nil //nolint:nilerr // the annotation was checked before the object was applied; who changed it since has no limit
	}
	if left := limit - now.Sub(since); left > 0 {
		return health.Describe(troubles), left, nil
	}
	return health.Describe(troubles), 0, fault.Finalf(fault.ReasonFailedObject, "%s failed: %s; it has been so for %s, and the limit is %s (annotation %s of the object, else --stuck-pod-limit of the executor). Correct the cause and run the plan again",
		ref, longest, now.Sub(since).Round(time.Second), limit, health.AnnotationStuckLimit)
}

// lastWords says what is known of the pods of an object that has failed. The informer may not have them: failures can be quick.
func (c *crew) lastWords(ctx context.Context, current *unstructured.Unstructured, env Env) string {
	if !watch.HasPods(current) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lastWordsTimeout)
	defer cancel()
	list, err := env.Client.Dynamic.Resource(watch.PodsResource).Namespace(current.GetNamespace()).List(ctx, metav1.ListOptions{
		LabelSelector: apply.LabelHeritage + "=" + apply.HeritageValue + "," + apply.LabelInstance + "=" + env.Identity.Instance})
	if err != nil {
		return "" // the failure itself is known, and is more than what its pods say
	}
	var own []*unstructured.Unstructured
	for i := range list.Items {
		if o := metav1.GetControllerOf(&list.Items[i]); o != nil && (o.UID == current.GetUID() || env.Hub.MadeFor(o, current)) {
			own = append(own, &list.Items[i])
		}
	}
	return health.Describe(health.Troubles(own, env.now()))
}

// lastWordsTimeout bounds the wait for the pods of what has failed anyway.
const lastWordsTimeout = 5 * time.Second

func (e Env) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock.Now()
}

// checkLimit refuses an annotation that says nothing before the object is applied.
func checkLimit(ref apply.Ref, obj *unstructured.Unstructured) error {
	if _, err := health.StuckLimit(obj, 0); err != nil {
		return fault.Finalf(fault.ReasonEnhancement, "%s: %w", ref, err)
	}
	return nil
}

func joined(message, detail string) string {
	if detail == "" {
		return message
	}
	return fmt.Sprintf("%s; %s", message, detail)
}
