// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// recorder watches a run and complains when what was recorded changes.
type recorder struct {
	t      *testing.T
	steps  map[string]v1beta1.StepExecutionStatus
	states int
	// last is the newest state; ended is when it was first seen to have ended.
	last  *v1beta1.PlanExecution
	ended time.Time
}

// record follows a run to its end.
func record(ctx context.Context, t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) *recorder {
	t.Helper()
	r := &recorder{t: t, steps: map[string]v1beta1.StepExecutionStatus{}}
	err := lab.Follow(ctx, l.Dynamic.Resource(lab.Executions).Namespace(pe.Namespace), metav1.ListOptions{FieldSelector: "metadata.name=" + pe.Name},
		func(obj *unstructured.Unstructured, present bool) bool {
			if !present {
				t.Errorf("run %s is not there", pe.Name)
				return true
			}
			return r.see(lab.Decode[v1beta1.PlanExecution](t, obj))
		})
	if err != nil {
		t.Fatalf("run %s after %d states: %v; %+v", pe.Name, r.states, err, r.last)
	}
	return r
}

// see reports whether the run has ended.
func (r *recorder) see(pe *v1beta1.PlanExecution) bool {
	if r.last != nil && r.last.UID != pe.UID {
		r.t.Errorf("run %s has uid %s and had %s", pe.Name, pe.UID, r.last.UID)
	}
	r.last = pe
	r.states++
	for _, p := range pe.Status.Phases {
		for _, s := range p.Steps {
			before := r.steps[s.Name]
			if before.Status == v1beta1.ExecutionComplete && s.Status != v1beta1.ExecutionComplete {
				r.t.Errorf("run %s: step %s was COMPLETE and is %s", pe.Name, s.Name, s.Status)
			}
			if before.Status == v1beta1.ExecutionComplete && !before.CompletionTime.Equal(s.CompletionTime) {
				r.t.Errorf("run %s: step %s was complete at %v and then at %v", pe.Name, s.Name, before.CompletionTime, s.CompletionTime)
			}
			if before.StartTime != nil && !before.StartTime.Equal(s.StartTime) {
				r.t.Errorf("run %s: step %s began at %v and then at %v", pe.Name, s.Name, before.StartTime, s.StartTime)
			}
			r.steps[s.Name] = s
		}
	}
	if !pe.Status.Status.IsTerminal() {
		return false
	}
	r.ended = time.Now()
	return true
}

// whole checks that the tree of a run that is complete says so everywhere.
func whole(t *testing.T, pe *v1beta1.PlanExecution, wantSteps int) {
	t.Helper()
	if pe.Status.Status != v1beta1.ExecutionComplete || pe.Status.CompletionTime == nil || pe.Status.StartTime == nil || pe.Status.Message != "" {
		t.Errorf("run %s: %s, %q", pe.Name, pe.Status.Status, pe.Status.Message)
	}
	n := 0
	var ended *metav1.Time
	for _, p := range pe.Status.Phases {
		if p.Status != v1beta1.ExecutionComplete || p.CompletionTime == nil {
			t.Errorf("run %s: phase %s is %s", pe.Name, p.Name, p.Status)
		}
		for _, s := range p.Steps {
			n++
			if s.Status != v1beta1.ExecutionComplete || s.StartTime == nil || s.CompletionTime == nil || ended != nil && s.StartTime.Before(ended) {
				t.Errorf("run %s: step %+v", pe.Name, s)
			}
			ended = s.CompletionTime
			for _, task := range s.Tasks {
				if task.Status != v1beta1.ExecutionComplete {
					t.Errorf("run %s: step %s: task %+v", pe.Name, s.Name, task)
				}
			}
			for _, o := range s.Objects {
				if !o.Ready {
					t.Errorf("run %s: step %s: object %+v", pe.Name, s.Name, o)
				}
			}
		}
	}
	if n != wantSteps {
		t.Errorf("run %s has %d steps, want %d", pe.Name, n, wantSteps)
	}
}
