// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
)

// Limits are how many runs that ended well, and how many that failed, are kept of the Instance.
func Limits(i *kudo.Instance) (successful, failed int) {
	return limit(i.Spec.SuccessfulRunsHistoryLimit), limit(i.Spec.FailedRunsHistoryLimit)
}

func limit(l *int32) int {
	if l == nil {
		return kudo.DefaultRunsHistoryLimit
	}
	return max(0, int(*l))
}

// Surplus are the runs that are to be deleted, the oldest first: of those that have ended well, and of those that failed, all but the
// newest ones up to the limits of the Instance. Age counts from the end of a run. A run that has not ended is not history, nor is one
// that still holds the lock, whose end the Instance does not know yet. A run that is being deleted already counts for nothing.
//
// The Instance must have been read after the runs. A run never gets a lock back, so one that had ended then and does not hold the lock
// later is known to the Instance. In the other order, a run could take the lock and end between the two reads.
func Surplus(i *kudo.Instance, runs []kudo.PlanExecution) []*kudo.PlanExecution {
	var successful, failed []*kudo.PlanExecution
	for r := range runs {
		run := &runs[r]
		switch {
		case run.DeletionTimestamp != nil || lock.HeldBy(i, run.UID):
		case run.Status.Status == kudo.ExecutionComplete:
			successful = append(successful, run)
		case run.Status.Status == kudo.ExecutionFatalError:
			failed = append(failed, run)
		}
	}
	keepSuccessful, keepFailed := Limits(i)
	surplus := append(beyond(successful, keepSuccessful), beyond(failed, keepFailed)...)
	slices.SortFunc(surplus, byAge)
	return surplus
}

// beyond are all but the newest keep runs.
func beyond(runs []*kudo.PlanExecution, keep int) []*kudo.PlanExecution {
	slices.SortFunc(runs, byAge)
	return slices.Clone(runs[:max(0, len(runs)-keep)])
}

// byAge sorts the run that ended first to the front. Times have whole seconds, in which several quick runs may end; the versions that
// etcd counts then tell which was written last, for the end is the last that the server writes. Names are for runs without a version.
func byAge(a, b *kudo.PlanExecution) int {
	return cmp.Or(end(a).Compare(end(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), byVersion(a, b), cmp.Compare(a.Name, b.Name))
}

func byVersion(a, b *kudo.PlanExecution) int {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	if err != nil {
		return 0
	}
	return order
}

func end(run *kudo.PlanExecution) time.Time {
	if run.Status.CompletionTime == nil {
		return run.CreationTimestamp.Time
	}
	return run.Status.CompletionTime.Time
}
