// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo"
)

// TestOwnersAreNotAdded: an owner that does not exist would have the garbage collector delete the run.
func TestOwnersAreNotAdded(t *testing.T) {
	run := func(owners ...types.UID) *kudo.PlanExecution {
		pe := &kudo.PlanExecution{}
		for _, uid := range owners {
			pe.OwnerReferences = append(pe.OwnerReferences, metav1.OwnerReference{UID: uid})
		}
		return pe
	}
	for name, tc := range map[string]struct{ before, after, want *kudo.PlanExecution }{
		"the same":       {run("instance"), run("instance"), run("instance")},
		"one more":       {run("instance"), run("instance", "evil"), run("instance")},
		"another":        {run("instance"), run("evil"), run()},
		"taken away":     {run("instance"), run(), run()},
		"one of several": {run("a", "b"), run("b"), run("b")},
		"to an orphan":   {run(), run("evil"), run()},
	} {
		t.Run(name, func(t *testing.T) {
			sent := tc.after.DeepCopy()
			strategy{}.PrepareForUpdate(t.Context(), sent, tc.before)
			if diff := cmp.Diff(len(tc.want.OwnerReferences), len(sent.OwnerReferences)); diff != "" {
				t.Fatal(diff)
			}
			for n, owner := range sent.OwnerReferences {
				if owner.UID != tc.want.OwnerReferences[n].UID {
					t.Errorf("owner %s, want %s", owner.UID, tc.want.OwnerReferences[n].UID)
				}
			}
		})
	}
}
