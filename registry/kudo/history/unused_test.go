// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/revision"
)

// kept is a revision of the Instance db that was created n minutes after noon. A name has as many digits as the server gives it.
func kept(digit string, n int) kudo.OperatorVersionRevision {
	return kudo.OperatorVersionRevision{ObjectMeta: metav1.ObjectMeta{Name: "db-000000000" + digit, CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(n) * time.Minute)),
		Labels: map[string]string{revision.InstanceLabel: "db"}}}
}

// marked is one that the server saw unused at the time.
func marked(digit string, n int, since time.Time) kudo.OperatorVersionRevision {
	r := kept(digit, n)
	r.Annotations = map[string]string{revision.UnusedSinceAnnotation: since.Format(time.RFC3339)}
	return r
}

func TestUnused(t *testing.T) {
	now := noon.Add(time.Hour)
	uses := func(digits ...string) (runs []kudo.PlanExecution) {
		for _, d := range digits {
			run := at("r"+d, kudo.ExecutionComplete, 0)
			run.Spec.RevisionName = "db-000000000" + d
			runs = append(runs, run)
		}
		return runs
	}
	going := uses("1")
	going[0].DeletionTimestamp = &metav1.Time{Time: noon}
	locked, deleted := limited(nil, nil), limited(nil, nil)
	locked.Spec.PlanExecution.Template = &kudo.PlanExecutionTemplate{Spec: kudo.PlanExecutionSpec{RevisionName: "db-0000000001"}}
	deleted.DeletionTimestamp = &metav1.Time{Time: noon}
	long := now.Add(-Grace)
	foreign, relabelled, longer, held, gone, broken := marked("1", 0, long), marked("1", 0, long), marked("1", 0, long), marked("1", 0, long), marked("1", 0, long), kept("1", 0)
	foreign.Name = "other-0000000001"
	relabelled.Labels = map[string]string{revision.InstanceLabel: "other"}
	longer.Name = "db-x-0000000001"
	held.Finalizers = []string{"example.com/keep"}
	gone.DeletionTimestamp = &metav1.Time{Time: noon}
	broken.Annotations = map[string]string{revision.UnusedSinceAnnotation: "yesterday"}
	type revisions = []kudo.OperatorVersionRevision
	for _, tc := range []struct {
		name       string
		i          *kudo.Instance
		runs       []kudo.PlanExecution
		revisions  revisions
		mark, drop []string
		next       time.Duration
	}{
		{"none", limited(nil, nil), nil, nil, nil, nil, 0},
		{"the only one", limited(nil, nil), nil, revisions{marked("1", 0, long)}, nil, nil, 0},
		{"the newest ones", limited(nil, nil), nil, revisions{marked("1", 5, long), marked("2", 5, long), kept("3", 0)}, []string{"db-0000000003"}, nil, Grace},
		{"all in use", limited(nil, nil), uses("1", "2"), revisions{kept("1", 0), kept("2", 1), kept("3", 2)}, nil, nil, 0},
		{"in use after all", limited(nil, nil), uses("1"), revisions{marked("1", 0, long), kept("3", 2)}, nil, nil, 0},
		{"in use by a run that is being deleted", limited(nil, nil), going, revisions{marked("1", 0, long), kept("3", 2)}, nil, nil, 0},
		{"in use by a run that is not stored yet", locked, nil, revisions{marked("1", 0, long), kept("3", 2)}, nil, nil, 0},
		{"not seen before", limited(nil, nil), uses("2"), revisions{kept("1", 0), kept("2", 1), kept("3", 2)}, []string{"db-0000000001"}, nil, Grace},
		{"seen a moment ago", limited(nil, nil), nil, revisions{marked("1", 0, now.Add(-time.Minute)), kept("3", 2)}, nil, nil, Grace - time.Minute},
		{"a second too early", limited(nil, nil), nil, revisions{marked("1", 0, long.Add(time.Second)), kept("3", 2)}, nil, nil, time.Second},
		{"seen long ago", limited(nil, nil), uses("2"), revisions{marked("1", 0, long), marked("2", 1, long), kept("3", 2)}, nil, []string{"db-0000000001"}, 0},
		{"several", limited(nil, nil), nil, revisions{marked("1", 0, long), marked("2", 0, now.Add(-2*time.Minute)), kept("3", 0), kept("4", 9)}, []string{"db-0000000003"}, []string{"db-0000000001"}, Grace - 2*time.Minute},
		{"a clock that is ahead", limited(nil, nil), nil, revisions{marked("1", 0, now.Add(time.Hour)), kept("3", 2)}, nil, nil, time.Hour + Grace},
		{"a mark that cannot be read", limited(nil, nil), nil, revisions{broken, kept("3", 2)}, []string{"db-0000000001"}, nil, Grace},
		{"one of another Instance with our label", limited(nil, nil), nil, revisions{foreign, longer, kept("3", 2)}, nil, nil, 0},
		{"one whose label was changed", limited(nil, nil), nil, revisions{relabelled, kept("3", 2)}, nil, nil, 0},
		{"held by somebody", limited(nil, nil), nil, revisions{held, kept("3", 2)}, nil, nil, 0},
		{"being deleted", limited(nil, nil), nil, revisions{gone, kept("3", 2)}, nil, nil, 0},
		{"an Instance that is being deleted", deleted, nil, revisions{marked("1", 0, long), kept("3", 2)}, nil, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mark, drop, next := Unused(tc.i, tc.runs, tc.revisions, now)
			if diff := cmp.Diff([][]string{tc.mark, tc.drop}, [][]string{revisionNames(mark), revisionNames(drop)}); diff != "" {
				t.Errorf("to mark, to drop: %s", diff)
			}
			if next != tc.next {
				t.Errorf("next in %v, want %v", next, tc.next)
			}
		})
	}
}

func revisionNames(revisions []*kudo.OperatorVersionRevision) []string {
	var out []string
	for _, r := range revisions {
		out = append(out, r.Name)
	}
	return out
}
