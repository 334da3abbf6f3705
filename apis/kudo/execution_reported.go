// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

import (
	"slices"
	"strings"
)

// Reported are what the steps of the run reported of objects, in the order in which the reports count: what comes later is newer. Of
// what ran at the same time the order is not known; there the reports of deleted objects come first, so that in doubt an object is
// there.
func (s *PlanExecutionStatus) Reported() []*ObjectExecutionStatus {
	var all []*ObjectExecutionStatus
	for i := range s.Phases {
		var phase []*ObjectExecutionStatus
		for j := range s.Phases[i].Steps {
			for k := range s.Phases[i].Steps[j].Objects {
				phase = append(phase, &s.Phases[i].Steps[j].Objects[k])
			}
		}
		if s.Phases[i].Strategy == Parallel {
			deletedFirst(phase)
		} else {
			phase = sinceDeleted(phase)
		}
		all = append(all, phase...)
	}
	if s.Strategy == Parallel {
		deletedFirst(all)
	}
	return all
}

// sinceDeleted leaves out, of reports whose order is known, those about an object that were made before it was deleted: sorted by what is
// deleted, they would seem to be newer.
func sinceDeleted(objects []*ObjectExecutionStatus) []*ObjectExecutionStatus {
	over := map[[4]string]bool{}
	kept := objects[:0:0]
	for _, o := range slices.Backward(objects) {
		group, _, found := strings.Cut(o.APIVersion, "/")
		if !found {
			group = ""
		}
		id := [4]string{group, o.Kind, o.Namespace, o.Name}
		if !over[id] {
			kept = append(kept, o)
		}
		over[id] = over[id] || o.Deleted
	}
	slices.Reverse(kept)
	return kept
}

func deletedFirst(objects []*ObjectExecutionStatus) {
	slices.SortStableFunc(objects, func(a, b *ObjectExecutionStatus) int {
		switch {
		case a.Deleted == b.Deleted:
			return 0
		case a.Deleted:
			return -1
		}
		return 1
	})
}
