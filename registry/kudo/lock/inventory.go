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

// recordInventory takes in which objects the run has applied or is about to, and which it has deleted. It counts the same however often
// a status is taken in, so nothing depends on every one of them arriving.
func recordInventory(i *kudo.Instance, run *kudo.PlanExecution) (changed bool) {
	entries := map[identity]kudo.InventoryEntry{}
	for _, e := range i.Status.Inventory {
		entries[identity{e.Group, e.Kind, e.Namespace, e.Name}] = *e.DeepCopy()
	}
	for _, o := range run.Status.Reported() {
		gv, err := schema.ParseGroupVersion(o.APIVersion)
		if err != nil {
			continue
		}
		id := identity{gv.Group, o.Kind, o.Namespace, o.Name}
		switch {
		case o.Deleted:
			delete(entries, id)
		case len(o.Tasks) > 0:
			e := entries[id]
			e.Group, e.Version, e.Kind, e.Namespace, e.Name = gv.Group, gv.Version, o.Kind, o.Namespace, o.Name
			e.UID = cmp.Or(o.UID, e.UID)
			e.Tasks = append(e.Tasks, o.Tasks...)
			slices.Sort(e.Tasks)
			e.Tasks = slices.Compact(e.Tasks)
			entries[id] = e
		}
	}
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
