// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"slices"
	"strings"
	"testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func serial(tasks ...string) v1beta1.Plan {
	return v1beta1.Plan{Phases: []v1beta1.Phase{{Name: "p", Steps: []v1beta1.Step{{Name: "s", Tasks: tasks}}}}}
}

// TestWanted: an object is wanted if any plan applies it, by whichever task and under whichever condition.
func TestWanted(t *testing.T) {
	c := newCluster(t)
	job := func(name string) string { return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + "}\n" }
	c.Templates = map[string]string{
		"moved": job("moved"), "conditional": "{{ if eq .PlanName \"deploy\" }}\n" + job("conditional") + "{{ end }}", "shown": job("shown"), "hidden": job("hidden"),
		"backup": job("backup-{{ .Params.NAME }}"), "foreign": "apiVersion: x.io/v1\nkind: Gone\nmetadata: {name: g}\n", "deleted": job("deleted"),
	}
	c.Variables.Params = map[string]any{"NAME": "two", "ON": "true", "OFF": "false"}
	apply := func(name string) v1beta1.Task {
		return v1beta1.Task{Name: name, Kind: v1beta1.ApplyTaskKind, Spec: v1beta1.TaskSpec{Resources: []string{name}}}
	}
	toggle := func(name, parameter string) v1beta1.Task {
		return v1beta1.Task{Name: name, Kind: v1beta1.ToggleTaskKind, Spec: v1beta1.TaskSpec{Parameter: parameter, Resources: []string{name}}}
	}
	content := &v1beta1.OperatorVersionSpec{
		Plans: map[string]v1beta1.Plan{"deploy": serial("moved", "conditional", "shown", "hidden", "deleted"), "upgrade": serial("conditional"), "backup": serial("backup", "foreign")},
		Tasks: []v1beta1.Task{apply("moved"), apply("conditional"), toggle("shown", "ON"), toggle("hidden", "OFF"), apply("backup"), apply("foreign"),
			{Name: "deleted", Kind: v1beta1.DeleteTaskKind, Spec: v1beta1.TaskSpec{Resources: []string{"deleted"}}}},
	}
	wanted, err := Wanted(t.Context(), c.Env, content)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for id := range wanted {
		got = append(got, id.Namespace+"/"+id.Kind+"/"+id.Name)
	}
	slices.Sort(got)
	if want := "/Gone/g ns/Gone/g ns/Job/backup-two ns/Job/conditional ns/Job/moved ns/Job/shown"; strings.Join(got, " ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, " "), want)
	}
	if c.applies != 0 {
		t.Errorf("%d objects were applied", c.applies)
	}
	c.Templates["backup"] = "{{ .Params.NOPE }}"
	if _, err := Wanted(t.Context(), c.Env, content); err == nil || !strings.Contains(err.Error(), `plan "backup"`) || !strings.Contains(err.Error(), "NOPE") {
		t.Errorf("got %v", err)
	}
}

// TestDeleteLeavesOthersAlone: two Instances whose templates have one name for an object.
func TestDeleteLeavesOthersAlone(t *testing.T) {
	c := newCluster(t)
	put := c.put(t, "j", map[string]any{"apiVersion": "kudo.dev/v1beta1", "kind": "Instance", "name": "other", "uid": "another", "controller": true})
	r := runner(t, "Delete", v1beta1.TaskSpec{Resources: []string{"job"}})
	got := r.Run(t.Context(), c.Env)
	if got.Err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "belongs to another Instance") {
		t.Errorf("got %+v", got)
	}
	if _, err := c.dynamic.Tracker().Get(jobs, "ns", put); err != nil {
		t.Error(err)
	}
}
