// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
)

func TestValidateTasks(t *testing.T) {
	pipes := []kudo.PipeSpec{{File: "/a", Kind: "Secret", Key: "k"}, {EnvFile: "/b", Kind: "ConfigMap", Key: "l"}}
	for _, tc := range []struct {
		name string
		task kudo.Task
		want []string
	}{
		{"apply", kudo.Task{Kind: "Apply"}, nil},
		{"unknown kind", kudo.Task{Kind: "Telepathy"}, []string{"spec.tasks[0].kind"}},
		{"no kind", kudo.Task{}, []string{"spec.tasks[0].kind"}},
		{"toggle", kudo.Task{Kind: "Toggle", Spec: kudo.TaskSpec{Parameter: "on"}}, nil},
		{"toggle of nothing", kudo.Task{Kind: "Toggle"}, []string{"spec.tasks[0].spec.parameter"}},
		{"toggle of what is not defined", kudo.Task{Kind: "Toggle", Spec: kudo.TaskSpec{Parameter: "off"}}, []string{"spec.tasks[0].spec.parameter"}},
		{"pipe", kudo.Task{Kind: "Pipe", Spec: kudo.TaskSpec{Pod: "p", Pipe: pipes}}, nil},
		{"pipe of nothing", kudo.Task{Kind: "Pipe"}, []string{"spec.tasks[0].spec.pipe", "spec.tasks[0].spec.pod"}},
		{"pipe entries", kudo.Task{Kind: "Pipe", Spec: kudo.TaskSpec{Pod: "p", Pipe: []kudo.PipeSpec{pipes[0], {File: "/a", EnvFile: "/b", Kind: "Pod"}}}},
			[]string{"spec.tasks[0].spec.pipe[1]", "spec.tasks[0].spec.pipe[1].key", "spec.tasks[0].spec.pipe[1].kind"}},
		{"operator", kudo.Task{Kind: "KudoOperator", Spec: kudo.TaskSpec{Package: "a", OperatorVersion: "1"}}, nil},
		{"operator without version", kudo.Task{Kind: "KudoOperator"}, []string{"spec.tasks[0].spec.operatorVersion", "spec.tasks[0].spec.package"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.task.Name = "it"
			plan := kudo.Plan{Phases: []kudo.Phase{{Name: "p", Steps: []kudo.Step{{Name: "s", Tasks: []string{"it"}}}}}}
			ov := &kudo.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: "o", Namespace: "n"}, Spec: kudo.OperatorVersionSpec{
				Tasks: []kudo.Task{tc.task}, Parameters: []kudo.Parameter{{Name: "on"}}, Plans: map[string]kudo.Plan{"deploy": plan}}}
			got := fields(ValidateOperatorVersion(ov))
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			// What is stored can be changed elsewhere.
			ov.ResourceVersion = "1"
			changed := ov.DeepCopy()
			changed.Spec.Version = "2"
			if got := fields(ValidateOperatorVersionUpdate(changed, ov)); len(got) > 0 {
				t.Errorf("an update of another field: %v", got)
			}
			// No plan that has to run uses the task.
			ov.Spec.Plans = map[string]kudo.Plan{"deploy": {}, "other": plan}
			if got := fields(ValidateOperatorVersion(ov)); len(got) > 0 {
				t.Errorf("a task of another plan: %v", got)
			}
		})
	}
}
