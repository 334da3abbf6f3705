// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
)

// TestGeneration: what users want counts, what the server writes does not.
func TestGeneration(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*kudo.Instance)
		want   int64
	}{
		{"nothing", func(*kudo.Instance) {}, 7},
		{"a client that writes it", func(i *kudo.Instance) { i.Generation = 3 }, 7},
		{"a label", func(i *kudo.Instance) { i.Labels = map[string]string{"a": "b"} }, 7},
		{"the lock", func(i *kudo.Instance) { i.Spec.PlanExecution.UID = "1" }, 7},
		{"the status", func(i *kudo.Instance) { i.Status.PlanStatus = map[string]kudo.PlanStatus{"deploy": {}} }, 7},
		{"no parameters instead of none", func(i *kudo.Instance) { i.Spec.Parameters = map[string]string{} }, 7},
		{"a parameter", func(i *kudo.Instance) { i.Spec.Parameters = map[string]string{"a": "b"} }, 8},
		{"the version", func(i *kudo.Instance) { i.Spec.OperatorVersion.Name = "other" }, 8},
		{"a limit", func(i *kudo.Instance) { i.Spec.SuccessfulRunsHistoryLimit = new(int32(1)) }, 8},
		{"the other limit", func(i *kudo.Instance) { i.Spec.FailedRunsHistoryLimit = new(int32(2)) }, 8},
		{"a limit taken away", func(i *kudo.Instance) { i.Spec.FailedRunsHistoryLimit = nil }, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Generation: 7}, Spec: kudo.InstanceSpec{FailedRunsHistoryLimit: new(int32(3))}}
			after := before.DeepCopy()
			tc.change(after)
			strategy{}.PrepareForUpdate(t.Context(), after, before)
			if after.Generation != tc.want {
				t.Errorf("generation %d, want %d", after.Generation, tc.want)
			}
		})
	}
}

// TestStatusLetsGo: with any write of the status the finalizer goes if nothing is listed that does not go with the Instance, and comes if
// something is.
func TestStatusLetsGo(t *testing.T) {
	foreign := []kudo.InventoryEntry{{Kind: "ClusterRole", Name: "c"}}
	own := []kudo.InventoryEntry{{Kind: "Secret", Namespace: "ns", Name: "s"}}
	for _, c := range []struct {
		name          string
		before, after []kudo.InventoryEntry
		held, want    bool
	}{
		{"the last one goes", foreign, nil, true, false},
		{"there was none", own, own, true, false},
		{"it is listed still", foreign, foreign, true, true},
		{"it was not held", foreign, foreign, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Status: kudo.InstanceStatus{Inventory: c.before}}
			if c.held {
				before.Finalizers = []string{kudo.InventoryFinalizer}
			}
			after := before.DeepCopy()
			after.Finalizers, after.Status.Inventory = []string{"written by a client"}, c.after
			statusStrategy{}.PrepareForUpdate(t.Context(), after, before)
			if got := slices.Contains(after.Finalizers, kudo.InventoryFinalizer); got != c.want || slices.Contains(after.Finalizers, "written by a client") {
				t.Errorf("finalizers %v", after.Finalizers)
			}
		})
	}
}

// TestLimitsStartNothing: a change of what is kept of the history is no reason to run a plan.
func TestLimitsStartNothing(t *testing.T) {
	old := &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "ns"}, Spec: kudo.InstanceSpec{OperatorVersion: kudo.ObjectReference{Name: "v"}}}
	i := old.DeepCopy()
	i.Spec.SuccessfulRunsHistoryLimit, i.Spec.FailedRunsHistoryLimit = new(int32(0)), new(int32(0))
	// Nothing is read to decide it: the storage has no OperatorVersions.
	d, err := (&REST{}).decideUpdate(t.Context(), i, old, nil)
	if err != nil || d.run != nil {
		t.Errorf("got %+v, %v", d, err)
	}
}
