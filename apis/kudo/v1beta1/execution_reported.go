// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import "slices"

// Reported are the objects that the steps of the run reported, in the order in which the reports count: what comes later is newer. Of
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
		}
		all = append(all, phase...)
	}
	if s.Strategy == Parallel {
		deletedFirst(all)
	}
	return all
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
