// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import (
	"cmp"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo"
)

// identity is what tells the entries of an inventory apart. The version is not part of it: it is a way to look at an object.
type identity struct{ group, kind, namespace, name string }

// said is what a run came to say of an object.
type said struct {
	entry kudo.InventoryEntry
	// gone says that the run has deleted the object; anew, that it did so before it applied the one of the entry.
	gone, anew bool
}

// reported is what the run came to say of each object.
func reported(run *kudo.PlanExecution) map[identity]said {
	out := map[identity]said{}
	for _, o := range run.Status.Reported() {
		gv, err := schema.ParseGroupVersion(o.APIVersion)
		if err != nil || !o.Deleted && len(o.Tasks) == 0 {
			continue
		}
		id := identity{gv.Group, o.Kind, o.Namespace, o.Name}
		if o.Deleted {
			out[id] = said{gone: true}
			continue
		}
		before := out[id]
		out[id] = said{anew: before.anew || before.gone, entry: kudo.InventoryEntry{Group: gv.Group, Version: gv.Version, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			UID: cmp.Or(o.UID, before.entry.UID), Tasks: slices.Concat(before.entry.Tasks, o.Tasks)}}
	}
	return out
}

// recordInventory takes in which objects the run has applied or is about to, and which it has deleted. It counts the same however often
// a status is taken in, so nothing depends on every one of them arriving.
func recordInventory(i *kudo.Instance, run *kudo.PlanExecution) (changed bool) {
	entries := listed(i)
	for id, s := range reported(run) {
		if s.gone || s.anew {
			delete(entries, id)
		}
		if !s.gone {
			entries[id] = merge(entries[id], s.entry)
		}
	}
	return setInventory(i, entries)
}

// Inherit takes the objects into the inventory that a run, which does not hold the lock any more, announced last: the lock may have been
// taken over between that and its record. It returns whether anything changed.
func Inherit(i *kudo.Instance, run *kudo.PlanExecution) (changed bool) {
	entries := listed(i)
	for id, s := range reported(run) {
		if _, known := entries[id]; !known && !s.gone {
			entries[id] = merge(kudo.InventoryEntry{}, s.entry)
		}
	}
	return setInventory(i, entries)
}

func listed(i *kudo.Instance) map[identity]kudo.InventoryEntry {
	out := map[identity]kudo.InventoryEntry{}
	for _, e := range i.Status.Inventory {
		out[identity{e.Group, e.Kind, e.Namespace, e.Name}] = e
	}
	return out
}

func merge(before, now kudo.InventoryEntry) kudo.InventoryEntry {
	now.UID = cmp.Or(now.UID, before.UID)
	now.Tasks = slices.Concat(before.Tasks, now.Tasks)
	slices.Sort(now.Tasks)
	now.Tasks = slices.Compact(now.Tasks)
	return now
}

func setInventory(i *kudo.Instance, entries map[identity]kudo.InventoryEntry) (changed bool) {
	var after []kudo.InventoryEntry
	for _, e := range entries {
		after = append(after, e)
	}
	slices.SortFunc(after, func(a, b kudo.InventoryEntry) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	if !apiequality.Semantic.DeepEqual(i.Status.Inventory, after) {
		i.Status.Inventory, changed = after, true
	}
	return HoldForInventory(i) || changed
}

// HoldForInventory puts the finalizer on an Instance that has objects which do not go with it, and takes it off one that has none any
// more. To an Instance that is being deleted no finalizer can be added.
func HoldForInventory(i *kudo.Instance) (changed bool) {
	wanted := slices.ContainsFunc(i.Status.Inventory, func(e kudo.InventoryEntry) bool { return e.Namespace != i.Namespace })
	held := slices.Contains(i.Finalizers, kudo.InventoryFinalizer)
	switch {
	case wanted == held || wanted && i.DeletionTimestamp != nil:
		return false
	case wanted:
		i.Finalizers = append(slices.Clone(i.Finalizers), kudo.InventoryFinalizer)
	default:
		i.Finalizers = slices.DeleteFunc(slices.Clone(i.Finalizers), func(f string) bool { return f == kudo.InventoryFinalizer })
	}
	return true
}
