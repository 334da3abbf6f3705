// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
)

// Removal deletes objects of the inventory that are no longer wanted, and waits until they are gone. It remembers what it asked for; a new
// one starts over.
type Removal struct {
	// SharedWith names another Instance whose inventory lists the object, or is empty.
	SharedWith func(v1beta1.InventoryEntry) string

	asked map[inventory.ID]types.UID
	// over are those that need not be looked at again.
	over map[inventory.ID]bool
	// Kept says why objects were not deleted.
	Kept []string
}

// Run deletes the objects of the entries. Those that are gone, those that are not the Instance's any more, and those that are kept are
// reported as deleted, so that they leave the inventory: what no task applies must not be missed when somebody deletes it by hand. Custom
// resources go first: who carries out their finalizers is often among the rest, with the permissions that this takes.
func (r *Removal) Run(ctx context.Context, env Env, entries []v1beta1.InventoryEntry) (report Report) {
	if r.asked == nil {
		r.asked, r.over = map[inventory.ID]types.UID{}, map[inventory.ID]bool{}
	}
	r.Kept = nil
	var custom, builtIn []v1beta1.InventoryEntry
	for _, e := range entries {
		if apply.Custom(e.Group) {
			custom = append(custom, e)
		} else {
			builtIn = append(builtIn, e)
		}
	}
	report = r.wave(ctx, env, custom)
	if report.Outcome != engine.Done {
		return report
	}
	objects := report.Objects
	report = r.wave(ctx, env, builtIn)
	report.Objects = append(objects, report.Objects...)
	return report
}

// wave deletes the objects of the entries at once.
func (r *Removal) wave(ctx context.Context, env Env, entries []v1beta1.InventoryEntry) (report Report) {
	var waits []string
	for _, e := range entries {
		if r.over[inventory.IDOf(e)] {
			report.Objects = append(report.Objects, removed(e))
			continue
		}
		gvk := schema.GroupVersionKind{Group: e.Group, Version: e.Version, Kind: e.Kind}
		ref, err := env.Client.Kinds.Find(ctx, gvk, e.Name)
		ref.Namespace = e.Namespace
		if reason, _ := fault.Classify(err); reason == fault.ReasonUnknownKind {
			// Of a kind that the cluster does not have there are no objects.
			r.over[inventory.IDOf(e)] = true
			report.Objects = append(report.Objects, removed(e))
			continue
		}
		state := fate{}
		if err == nil {
			state, err = r.one(ctx, env, e, ref)
		}
		switch {
		case err != nil:
			out := stopped(err)
			out.Objects = report.Objects
			return out
		case state.over:
			r.over[inventory.IDOf(e)] = true
			report.Objects = append(report.Objects, removed(e))
		case state.kept != "":
			kept := removed(e)
			kept.Message = "kept, and no longer in the inventory: " + state.kept
			report.Objects = append(report.Objects, kept)
		default:
			waits = append(waits, fmt.Sprintf("waits until %s, which no task applies any more, is gone%s", ref, state.detail))
		}
	}
	report.Outcome = engine.Done
	if len(waits) > 0 {
		report.Outcome, report.Message, report.Recheck = engine.Waiting, strings.Join(waits, "; "), removalRecheck
	}
	return report
}

// Missing reports those of the entries as deleted whose objects are not there.
func Missing(ctx context.Context, env Env, entries []v1beta1.InventoryEntry) (report Report) {
	for _, e := range entries {
		ref, err := env.Client.Kinds.Find(ctx, schema.GroupVersionKind{Group: e.Group, Version: e.Version, Kind: e.Kind}, e.Name)
		ref.Namespace = e.Namespace
		if err == nil {
			var live *unstructured.Unstructured
			if live, err = env.Client.Get(ctx, ref); err == nil && live == nil {
				o := removed(e)
				o.Message = "it is not there any more"
				report.Objects = append(report.Objects, o)
			}
		}
		if err != nil {
			out := stopped(err)
			out.Objects = report.Objects
			return out
		}
	}
	report.Outcome = engine.Done
	return report
}

// removalRecheck is how often objects are read that are on their way out, if no event comes.
const removalRecheck = 3 * time.Second

// fate is what became of an object: it is over if the object is gone or no longer the Instance's. kept is why it is not deleted.
type fate struct {
	over         bool
	kept, detail string
}

// one brings an object on its way out.
func (r *Removal) one(ctx context.Context, env Env, e v1beta1.InventoryEntry, ref apply.Ref) (fate, error) {
	id := inventory.IDOf(e)
	env.Hub.Track(env.Waiter, (&item{ref: ref}).key())
	live, err := env.Client.Get(ctx, ref)
	switch {
	case err != nil:
		return fate{}, fmt.Errorf("%s cannot be read: %w", ref, err)
	case live == nil, r.asked[id] != "" && live.GetUID() != r.asked[id], !apply.BelongsTo(live, env.Identity.InstanceUID):
		return fate{over: true}, nil
	}
	if live.GetDeletionTimestamp() == nil {
		if why := r.keeps(live, e); why != "" {
			r.Kept = append(r.Kept, fmt.Sprintf("%s is kept, though no task of the Instance applies it any more: %s; delete it by hand if nobody needs it", ref, why))
			return fate{kept: why}, nil
		}
		if gone, err := env.Client.DeleteExact(ctx, ref, live.GetUID()); err != nil || gone {
			return fate{over: gone}, err
		}
	}
	r.asked[id] = live.GetUID()
	d := &deleted{}
	d.describe(live)
	return fate{detail: d.detail}, nil
}

func (r *Removal) keeps(live *unstructured.Unstructured, e v1beta1.InventoryEntry) string {
	if why := apply.Keeps(live); why != "" || r.SharedWith == nil {
		return why
	}
	if other := r.SharedWith(e); other != "" {
		return fmt.Sprintf("Instance %s applies it, too", other)
	}
	return ""
}

func removed(e v1beta1.InventoryEntry) v1beta1.ObjectExecutionStatus {
	gv := schema.GroupVersion{Group: e.Group, Version: e.Version}
	return v1beta1.ObjectExecutionStatus{APIVersion: gv.String(), Kind: e.Kind, Namespace: e.Namespace, Name: e.Name, Ready: true, Deleted: true, Message: "deleted, because no task applies it any more"}
}
