// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// ID tells objects apart. The version of the API is not part of it: it is a way to look at an object.
type ID struct{ Group, Kind, Namespace, Name string }

// View is what is on record of the objects of an Instance: its inventory as the run found it, and what the run reported since. Of a
// nil View everything may be applied.
type View struct {
	listed map[ID]v1beta1.InventoryEntry
	// reported holds the last report of the run about an object, with the tasks of all reports since it was deleted.
	reported map[ID]v1beta1.ObjectExecutionStatus
}

// Of makes a View of an Instance that is locked by the run, or was read after that, and of the stored status of the run.
func Of(instance *v1beta1.Instance, status *v1beta1.PlanExecutionStatus) *View {
	v := &View{listed: map[ID]v1beta1.InventoryEntry{}, reported: map[ID]v1beta1.ObjectExecutionStatus{}}
	for _, e := range instance.Status.Inventory {
		v.listed[IDOf(e)] = e
	}
	for _, o := range status.Reported() {
		gv, err := schema.ParseGroupVersion(o.APIVersion)
		if err != nil {
			continue
		}
		id := ID{gv.Group, o.Kind, o.Namespace, o.Name}
		now := *o
		if now.Deleted {
			delete(v.listed, id) // what comes after it is another object
		}
		if before, ok := v.reported[id]; ok && !before.Deleted && !now.Deleted {
			now.Tasks = append(slices.Clone(before.Tasks), now.Tasks...)
		}
		v.reported[id] = now
	}
	return v
}

// IDOf is the ID of an entry.
func IDOf(e v1beta1.InventoryEntry) ID { return ID{e.Group, e.Kind, e.Namespace, e.Name} }

// Lists tells whether it is on record that the task applies the object. Only then may the object be applied: one that is in the cluster
// and on no record would be lost if the executor died now.
func (v *View) Lists(id ID, task string) bool {
	if v == nil {
		return true
	}
	if o, ok := v.reported[id]; ok && (o.Deleted || slices.Contains(o.Tasks, task)) {
		return !o.Deleted
	}
	return slices.Contains(v.listed[id].Tasks, task)
}

// UID is that of the object as it was last applied; empty if it is not on record that it ever was.
func (v *View) UID(id ID) types.UID {
	if v == nil {
		return ""
	}
	if o, ok := v.reported[id]; ok && (o.Deleted || o.UID != "") {
		return o.UID
	}
	return v.listed[id].UID
}

// Dropped are the objects that no task applies any more, in the order of the inventory, once all steps of the plan are complete: the run
// did not report them, and of the tasks that they are listed for each was carried out in this run or is no longer defined.
func Dropped(instance *v1beta1.Instance, status *v1beta1.PlanExecutionStatus, defined []v1beta1.Task) []v1beta1.InventoryEntry {
	v := Of(instance, status)
	over := map[string]bool{}
	for _, e := range instance.Status.Inventory {
		for _, t := range e.Tasks {
			over[t] = true
		}
	}
	for _, t := range defined {
		delete(over, t.Name)
	}
	for _, p := range status.Phases {
		for _, s := range p.Steps {
			for _, t := range s.Tasks {
				over[t.Name] = true
			}
		}
	}
	var out []v1beta1.InventoryEntry
	for _, e := range instance.Status.Inventory {
		if _, ok := v.reported[IDOf(e)]; ok || len(e.Tasks) == 0 {
			continue
		}
		if !slices.ContainsFunc(e.Tasks, func(t string) bool { return !over[t] }) {
			out = append(out, e)
		}
	}
	return out
}

// Prunes tells whether a run deletes what its tasks no longer apply: those that bring an Instance to the state that its parameters and its
// OperatorVersion describe. Others only add, so that a backup does not remove the backup before it.
func Prunes(spec *v1beta1.PlanExecutionSpec) bool {
	switch spec.Trigger {
	case v1beta1.TriggerCreate, v1beta1.TriggerParameterChange, v1beta1.TriggerUpgrade:
		return true
	}
	switch spec.PlanName {
	case v1beta1.DeployPlanName, v1beta1.UpdatePlanName, v1beta1.UpgradePlanName:
		return true
	}
	return false
}
