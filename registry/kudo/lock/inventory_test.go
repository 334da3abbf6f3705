// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo"
)

func report(apiVersion, kind, namespace, name, uid string, tasks ...string) kudo.ObjectExecutionStatus {
	return kudo.ObjectExecutionStatus{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: types.UID(uid), Tasks: tasks}
}

// TestInventory: what a run reports comes into the inventory and goes from it, however often it is recorded, and an Instance that has
// objects in no namespace is held until they are gone.
func TestInventory(t *testing.T) {
	i, run := newInstance(), newRun("deploy", "1")
	i.Status.Inventory = []kudo.InventoryEntry{{Version: "v1", Kind: "Secret", Namespace: "ns", Name: "old", UID: "0", Tasks: []string{"t"}}}
	if err := Take(i, run, now); err != nil {
		t.Fatal(err)
	}
	objects := &run.Status.Phases[0].Steps[0].Objects
	*objects = []kudo.ObjectExecutionStatus{
		report("v1", "Secret", "ns", "old", "", "u"), report("apps/v1", "Deployment", "ns", "d", "", "t"), report("rbac.authorization.k8s.io/v1", "ClusterRole", "", "c", "9", "t"),
		{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "of an older executor"},
	}
	want := []kudo.InventoryEntry{
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Name: "c", UID: "9", Tasks: []string{"t"}},
		{Version: "v1", Kind: "Secret", Namespace: "ns", Name: "old", UID: "0", Tasks: []string{"t", "u"}},
		{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "ns", Name: "d", Tasks: []string{"t"}},
	}
	if !Record(i, run, now) {
		t.Error("nothing was recorded")
	}
	if diff := cmp.Diff(want, i.Status.Inventory); diff != "" || !slices.Contains(i.Finalizers, kudo.InventoryFinalizer) {
		t.Errorf("finalizers %v; %s", i.Finalizers, diff)
	}
	if Record(i, run, now) {
		t.Error("it was recorded twice")
	}
	gone := report("rbac.authorization.k8s.io/v1beta1", "ClusterRole", "", "c", "")
	gone.Deleted = true
	*objects = append(*objects, gone, report("apps/v1", "Deployment", "ns", "d", "7", "t"))
	want = want[1:]
	want[1].UID = "7"
	run.Status.Phases[0].Strategy = kudo.Serial
	if !Record(i, run, now) {
		t.Error("nothing was recorded")
	}
	if diff := cmp.Diff(want, i.Status.Inventory); diff != "" || slices.Contains(i.Finalizers, kudo.InventoryFinalizer) {
		t.Errorf("finalizers %v; %s", i.Finalizers, diff)
	}
	other := newRun("deploy", "2")
	other.Status.Phases[0].Steps[0].Objects = []kudo.ObjectExecutionStatus{report("v1", "Secret", "ns", "intruder", "", "t")}
	if Record(i, other, now) || len(i.Status.Inventory) != 2 {
		t.Errorf("a run without the lock recorded %v", i.Status.Inventory)
	}
}

// TestFinalizerOfADeletedInstance: none can be added any more, but it goes with the last object.
func TestFinalizerOfADeletedInstance(t *testing.T) {
	i := newInstance()
	i.DeletionTimestamp = &metav1.Time{Time: now}
	i.Status.Inventory = []kudo.InventoryEntry{{Kind: "ClusterRole", Name: "c"}}
	if HoldForInventory(i) || len(i.Finalizers) > 0 {
		t.Errorf("finalizers %v", i.Finalizers)
	}
	i.Finalizers = []string{"x", kudo.InventoryFinalizer}
	if HoldForInventory(i) {
		t.Errorf("finalizers %v", i.Finalizers)
	}
	i.Status.Inventory = nil
	if !HoldForInventory(i) || !slices.Equal(i.Finalizers, []string{"x"}) {
		t.Errorf("finalizers %v", i.Finalizers)
	}
}

// TestInherit: what a run announced that lost the lock is listed; what it deleted, and what is listed anyway, is left as it is.
func TestInherit(t *testing.T) {
	i, run := newInstance(), newRun("deploy", "1")
	i.Status.Inventory = []kudo.InventoryEntry{{Version: "v1", Kind: "Secret", Namespace: "ns", Name: "listed", UID: "2", Tasks: []string{"t"}}}
	gone := report("v1", "Secret", "ns", "deleted", "")
	gone.Deleted = true
	run.Status.Phases[0].Strategy = kudo.Serial
	run.Status.Phases[0].Steps[0].Objects = []kudo.ObjectExecutionStatus{report("v1", "Secret", "ns", "listed", "1", "u"), report("v1", "Secret", "ns", "deleted", "3", "u"),
		report("v1", "Secret", "ns", "announced", "", "u"), gone}
	want := []kudo.InventoryEntry{{Version: "v1", Kind: "Secret", Namespace: "ns", Name: "announced", Tasks: []string{"u"}}, i.Status.Inventory[0]}
	if !Inherit(i, run) {
		t.Error("nothing was taken in")
	}
	if diff := cmp.Diff(want, i.Status.Inventory); diff != "" {
		t.Error(diff)
	}
	if Inherit(i, run) {
		t.Error("it was taken in twice")
	}
}

// TestDeletedInASerialPhase: what a serial phase of a parallel plan applies and then deletes is not listed.
func TestDeletedInASerialPhase(t *testing.T) {
	i, run := newInstance(), newRun("deploy", "1")
	run.Status = PendingStatus(&kudo.Plan{Strategy: kudo.Parallel, Phases: []kudo.Phase{
		{Name: "a", Strategy: kudo.Serial, Steps: []kudo.Step{{Name: "apply"}, {Name: "delete"}}}, {Name: "b", Strategy: kudo.Serial, Steps: []kudo.Step{{Name: "apply"}}}}})
	if err := Take(i, run, now); err != nil {
		t.Fatal(err)
	}
	gone := report("v1", "Pod", "ns", "x", "")
	gone.Deleted = true
	run.Status.Phases[0].Steps[0].Objects = []kudo.ObjectExecutionStatus{report("v1", "Pod", "ns", "x", "1", "t")}
	run.Status.Phases[0].Steps[1].Objects = []kudo.ObjectExecutionStatus{gone}
	run.Status.Phases[1].Steps[0].Objects = []kudo.ObjectExecutionStatus{report("v1", "Pod", "ns", "y", "2", "t")}
	Record(i, run, now)
	if diff := cmp.Diff([]kudo.InventoryEntry{{Version: "v1", Kind: "Pod", Namespace: "ns", Name: "y", UID: "2", Tasks: []string{"t"}}}, i.Status.Inventory); diff != "" {
		t.Error(diff)
	}
}
