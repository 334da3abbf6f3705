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

// Dropped are the objects that no task may apply any more, in the order of the inventory, once all steps of the plan are complete: the run
// did not report them, and each of the tasks that they are listed for was carried out in this run, is of a plan that describes the Instance,
// or is no longer defined. Whether a plan would apply them all the same, its templates have to be asked.
func Dropped(instance *v1beta1.Instance, status *v1beta1.PlanExecutionStatus, content *v1beta1.OperatorVersionSpec) []v1beta1.InventoryEntry {
	v := Of(instance, status)
	over := map[string]bool{}
	for _, e := range instance.Status.Inventory {
		for _, t := range e.Tasks {
			over[t] = true
		}
	}
	for _, t := range content.Tasks {
		delete(over, t.Name)
	}
	for _, p := range status.Phases {
		for _, s := range p.Steps {
			for _, t := range s.Tasks {
				over[t.Name] = true
			}
		}
	}
	for name, plan := range content.Plans {
		if !describing(name) {
			continue
		}
		for _, p := range plan.Phases {
			for _, s := range p.Steps {
				for _, t := range s.Tasks {
					over[t] = true
				}
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

// Unreported are the entries of a kind that the run did not report.
func Unreported(instance *v1beta1.Instance, status *v1beta1.PlanExecutionStatus, kind schema.GroupKind) []v1beta1.InventoryEntry {
	v := Of(instance, status)
	var out []v1beta1.InventoryEntry
	for _, e := range instance.Status.Inventory {
		if _, ok := v.reported[IDOf(e)]; !ok && e.Group == kind.Group && e.Kind == kind.Kind {
			out = append(out, e)
		}
	}
	return out
}

// Describes tells whether a run brings the Instance to the state that its parameters and its OperatorVersion describe. Others do
// something with it: a backup is not part of the state, however it was started.
func Describes(spec *v1beta1.PlanExecutionSpec) bool { return describing(spec.PlanName) }

func describing(plan string) bool {
	return plan == v1beta1.DeployPlanName || plan == v1beta1.UpdatePlanName || plan == v1beta1.UpgradePlanName
}

// Prunes tells whether a run deletes what is not applied any more. Runs that do not describe the Instance only add, so that a backup does not
// remove the backup before it, and so do those with parameters of their own, which the next run does not have.
func Prunes(spec *v1beta1.PlanExecutionSpec) bool {
	return Describes(spec) && len(spec.Parameters) == 0
}
