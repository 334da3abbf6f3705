// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/inventory"
)

func recorded(objects ...v1beta1.ObjectExecutionStatus) *inventory.View {
	status := &v1beta1.PlanExecutionStatus{Phases: []v1beta1.PhaseExecutionStatus{{Steps: []v1beta1.StepExecutionStatus{{Objects: objects}}}}}
	return inventory.Of(&v1beta1.Instance{}, status)
}

// TestNothingIsAppliedBeforeItIsOnRecord: a task announces what it is about to apply, holds the step up, and applies it once it is called
// with that on record.
func TestNothingIsAppliedBeforeItIsOnRecord(t *testing.T) {
	c := newCluster(t)
	c.Task, c.Records = "x", recorded()
	r := runner(t, "Apply", v1beta1.TaskSpec{Resources: []string{"job", "late", "job"}})
	got := r.Run(context.Background(), c.Env)
	if got.Outcome != engine.Waiting || !got.Holds || len(got.Objects) != 2 || c.applies != 0 {
		t.Fatalf("applied %d: %+v", c.applies, got)
	}
	for _, o := range got.Objects {
		if !slices.Equal(o.Tasks, []string{"x"}) || o.UID != "" {
			t.Errorf("announced %+v", o)
		}
	}
	c.Records = recorded(got.Objects[0])
	if got := r.Run(context.Background(), c.Env); !got.Holds || c.applies != 0 {
		t.Fatalf("applied %d with half of it on record: %+v", c.applies, got)
	}
	c.Records = recorded(got.Objects...)
	if got := r.Run(context.Background(), c.Env); got.Holds || c.applies != 2 || got.Objects[0].UID == "" {
		t.Errorf("applied %d: %+v", c.applies, got)
	}
}

// TestDeleteWaitsForTheTaskAhead: the object of a step that applies and deletes it is deleted when the first of the two is done.
func TestDeleteWaitsForTheTaskAhead(t *testing.T) {
	c := newCluster(t)
	s := &Step{}
	defined := []v1beta1.Task{{Name: "run", Kind: "Apply", Spec: v1beta1.TaskSpec{Resources: []string{"job"}}}, {Name: "rm", Kind: "Delete", Spec: v1beta1.TaskSpec{Resources: []string{"job"}}}}
	status := &v1beta1.StepExecutionStatus{Tasks: []v1beta1.TaskExecutionStatus{{Name: "run"}, {Name: "rm"}}}
	for range 2 {
		got := s.Pass(context.Background(), c.Env, defined, status)
		if len(got.Tasks) != 2 || !strings.Contains(got.Tasks[1].Message, "until task run, which applies it, is done") {
			t.Fatalf("got %+v", got)
		}
	}
	if _, err := c.dynamic.Tracker().Get(jobs, "ns", "j"); err != nil {
		t.Fatal(err)
	}
	status.Tasks[0].Status = v1beta1.ExecutionComplete
	if got := s.Pass(context.Background(), c.Env, defined, status); len(got.Tasks) != 1 || got.Tasks[0].Outcome != engine.Done || !got.Objects[0].Deleted {
		t.Errorf("got %+v", got)
	}
}

// put makes a Job with an owner and returns its name.
func (c *cluster) put(t *testing.T, name string, owner map[string]any) string {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": name, "namespace": "ns", "uid": "uid-" + name, "ownerReferences": []any{owner}}}}
	if err := c.dynamic.Tracker().Create(jobs, o, "ns"); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRemoval: of what no task applies any more only that goes which is the Instance's and may go.
func TestRemoval(t *testing.T) {
	c := newCluster(t)
	entry := func(name string) v1beta1.InventoryEntry {
		return v1beta1.InventoryEntry{Group: "batch", Version: "v1", Kind: "Job", Namespace: "ns", Name: name, Tasks: []string{"t"}}
	}
	put := func(name, owner string, annotations map[string]any) {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": name, "namespace": "ns", "uid": "uid-" + name,
			"annotations": annotations, "ownerReferences": []any{map[string]any{"apiVersion": "kudo.dev/v1beta1", "kind": "Instance", "name": "zk", "uid": owner}}}}}
		if err := c.dynamic.Tracker().Create(jobs, o, "ns"); err != nil {
			t.Fatal(err)
		}
	}
	put("ours", "iuid", nil)
	put("theirs", "another", nil)
	put("kept", "iuid", map[string]any{"kudo.dev/prune": "false"})
	put("shared", "iuid", nil)
	unknown := entry("x")
	unknown.Group, unknown.Kind = "gone.io", "Gone"
	entries := []v1beta1.InventoryEntry{entry("ours"), entry("theirs"), entry("kept"), entry("shared"), entry("absent"), unknown}
	r := &Removal{SharedWith: func(e v1beta1.InventoryEntry) string {
		if e.Name == "shared" {
			return "other/zk"
		}
		return ""
	}}
	names := func(report Report) string {
		var out []string
		for _, o := range report.Objects {
			if !o.Deleted {
				t.Errorf("reported %+v", o)
			}
			out = append(out, o.Name)
		}
		return strings.Join(out, " ")
	}
	if got := r.Run(context.Background(), c.Env, entries); got.Outcome != engine.Waiting || names(got) != "x theirs kept shared absent" || !strings.Contains(got.Message, "Job ns/ours") {
		t.Fatalf("got %+v", got)
	}
	got := r.Run(context.Background(), c.Env, entries)
	if got.Outcome != engine.Done || names(got) != "x ours theirs kept shared absent" {
		t.Fatalf("got %+v", got)
	}
	if m := got.Objects[3].Message; !strings.HasPrefix(m, "kept, and no longer in the inventory: it has the annotation kudo.dev/prune") {
		t.Errorf("of what is kept it says %q", m)
	}
	if kept := strings.Join(r.Kept, "\n"); !strings.Contains(kept, "ns/kept is kept") || !strings.Contains(kept, "Instance other/zk applies it, too") {
		t.Errorf("kept: %s", kept)
	}
	for _, name := range []string{"theirs", "kept", "shared"} {
		if _, err := c.dynamic.Tracker().Get(jobs, "ns", name); err != nil {
			t.Error(err)
		}
	}
	put("ours", "iuid", nil)
	c.dynamic.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "ours", nil)
	})
	got = (&Removal{}).Run(context.Background(), c.Env, entries[:1])
	if reason, final := fault.Classify(got.Err); !final || reason != fault.ReasonForbidden || !strings.Contains(got.Err.Error(), "Job ns/ours cannot be deleted") {
		t.Errorf("got %+v", got)
	}
}
