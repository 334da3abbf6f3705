// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/revision"
)

// Grace is how long a revision is left alone after the server has marked it as unused.
const Grace = 10 * time.Minute

// Unused are the revisions of the Instance that no run needs. Those of mark are to be marked, those of drop were marked at least Grace
// ago and are to be deleted, with the uid and the resourceVersion that they have here as preconditions. next is how long it takes until
// another one is due, and 0 if none will be.
//
// A revision is needed by every run that names it, ended or not, and by the lock, whose run may not be stored yet. The newest one
// stays in any case: when the OperatorVersion is gone, it is what a cleanup and an upgrade work with. Nothing is unused while the
// Instance is being deleted, nor is what somebody holds with a finalizer.
//
// No revision is deleted that an accepted run needs. A request that starts a run calls revision.Ensure, which finds the revision R, and
// then takes the lock, which names R; it has at most a minute for both, for that is what the server gives a request. Let R carry the
// mark m, written at most a minute after the time that it names, and let R be deleted by a pruner that read, in this order, R, the
// clock (now), the Instance and its runs, with now - m >= Grace.
//
//   - If Ensure read R before the mark was written, the lock was taken less than two minutes after m, which is before now. The Instance
//     that the pruner read has the lock, or the run has ended since; then nothing is left to be executed.
//   - If Ensure read R later, it saw the mark and took it off (Adopt). That changed the resourceVersion, so the deletion failed with a
//     conflict; or the deletion was first, so taking the mark off failed, and Ensure stored R anew.
//
// All these reads are consistent ones, none of a cache that lags. The clocks of two servers may differ by Grace less the two minutes.
func Unused(i *kudo.Instance, runs []kudo.PlanExecution, revisions []kudo.OperatorVersionRevision, now time.Time) (mark, drop []*kudo.OperatorVersionRevision, next time.Duration) {
	if i.DeletionTimestamp != nil {
		return nil, nil, 0
	}
	needed := sets.New[string]()
	for r := range runs {
		needed.Insert(runs[r].Spec.RevisionName)
	}
	if t := i.Spec.PlanExecution.Template; t != nil {
		needed.Insert(t.Spec.RevisionName)
	}
	newest := newest(i.Name, revisions)
	for r := range revisions {
		candidate := &revisions[r]
		if !revision.Of(candidate, i.Name) || needed.Has(candidate.Name) || !candidate.CreationTimestamp.Time.Before(newest) ||
			candidate.DeletionTimestamp != nil || len(candidate.Finalizers) > 0 {
			continue
		}
		left := Grace
		if since, marked := revision.UnusedSince(candidate); !marked {
			mark = append(mark, candidate)
		} else if left = since.Add(Grace).Sub(now); left <= 0 {
			drop = append(drop, candidate)
			continue
		}
		if next == 0 || left < next {
			next = left
		}
	}
	return mark, drop, next
}

// newest is when the newest of them was created.
func newest(instance string, revisions []kudo.OperatorVersionRevision) time.Time {
	var newest time.Time
	for r := range revisions {
		if at := revisions[r].CreationTimestamp.Time; revision.Of(&revisions[r], instance) && at.After(newest) {
			newest = at
		}
	}
	return newest
}
