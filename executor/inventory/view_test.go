// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package inventory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// entry is a ConfigMap of the tasks.
func entry(name, uid string, tasks ...string) v1beta1.InventoryEntry {
	return v1beta1.InventoryEntry{Version: "v1", Kind: "ConfigMap", Namespace: "ns", Name: name, UID: types.UID(uid), Tasks: tasks}
}

func cm(name string) ID { return ID{Kind: "ConfigMap", Namespace: "ns", Name: name} }

// said is a report on a ConfigMap.
func said(name, uid string, deleted bool, tasks ...string) v1beta1.ObjectExecutionStatus {
	return v1beta1.ObjectExecutionStatus{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: name, UID: types.UID(uid), Deleted: deleted, Tasks: tasks}
}

func instance(entries ...v1beta1.InventoryEntry) *v1beta1.Instance {
	return &v1beta1.Instance{Status: v1beta1.InstanceStatus{Inventory: entries}}
}

// steps is the status of a run whose steps, each with the task of its name, made these reports.
func steps(strategy v1beta1.Ordering, reports ...[]v1beta1.ObjectExecutionStatus) *v1beta1.PlanExecutionStatus {
	p := v1beta1.PhaseExecutionStatus{Name: "p", Strategy: strategy}
	for i, r := range reports {
		name := string(rune('a' + i))
		p.Steps = append(p.Steps, v1beta1.StepExecutionStatus{Name: name, Objects: r, Tasks: []v1beta1.TaskExecutionStatus{{Name: name}}})
	}
	return &v1beta1.PlanExecutionStatus{Phases: []v1beta1.PhaseExecutionStatus{p}}
}

type reports = []v1beta1.ObjectExecutionStatus

func TestView(t *testing.T) {
	for _, c := range []struct {
		name   string
		in     *v1beta1.Instance
		status *v1beta1.PlanExecutionStatus
		lists  bool // x by task a
		uid    string
	}{
		{"nothing", instance(), steps("serial"), false, ""},
		{"listed", instance(entry("x", "1", "a", "b")), steps("serial"), true, "1"},
		{"listed for another task", instance(entry("x", "1", "b")), steps("serial"), false, "1"},
		{"announced", instance(), steps("serial", reports{said("x", "", false, "a")}), true, ""},
		{"applied", instance(entry("x", "1", "b")), steps("serial", reports{said("x", "2", false, "a")}), true, "2"},
		{"announced for another task", instance(entry("x", "1", "a")), steps("serial", reports{said("x", "", false, "b")}), true, "1"},
		{"by two steps", instance(), steps("serial", reports{said("x", "1", false, "a")}, reports{said("x", "1", false, "b")}), true, "1"},
		{"deleted", instance(entry("x", "1", "a")), steps("serial", reports{said("x", "", true)}), false, ""},
		{"deleted and announced", instance(entry("x", "1", "a")), steps("serial", reports{said("x", "", true)}, reports{said("x", "", false, "a")}), true, ""},
		{"applied, then deleted", instance(), steps("serial", reports{said("x", "1", false, "a")}, reports{said("x", "", true)}), false, ""},
		{"both at the same time", instance(), steps("parallel", reports{said("x", "1", false, "a")}, reports{said("x", "", true)}), true, "1"},
	} {
		v := Of(c.in, c.status)
		if got := v.Lists(cm("x"), "a"); got != c.lists {
			t.Errorf("%s: on record: %t", c.name, got)
		}
		if got := v.UID(cm("x")); string(got) != c.uid {
			t.Errorf("%s: uid %q", c.name, got)
		}
	}
}

func TestDropped(t *testing.T) {
	content := &v1beta1.OperatorVersionSpec{
		Tasks: []v1beta1.Task{{Name: "a"}, {Name: "b"}, {Name: "elsewhere"}, {Name: "update"}},
		Plans: map[string]v1beta1.Plan{
			"backup": {Phases: []v1beta1.Phase{{Steps: []v1beta1.Step{{Tasks: []string{"elsewhere"}}}}}},
			"update": {Phases: []v1beta1.Phase{{Steps: []v1beta1.Step{{Tasks: []string{"update"}}}}}},
		},
	}
	in := instance(
		entry("stays", "1", "a"), entry("dropped", "1", "a"), entry("dropped-by-both", "1", "a", "b"), entry("other-task", "1", "a", "elsewhere"),
		entry("of-no-task", "1", "removed"), entry("moved", "1", "b", "removed"), entry("other-plan", "1", "elsewhere"), entry("deleted", "1", "a"), entry("unknown", "1"),
		entry("of-deploy-and-update", "1", "a", "update"))
	status := steps("serial", reports{said("stays", "1", false, "a"), said("moved", "1", false, "a")}, reports{said("deleted", "", true)})
	var got []string
	for _, e := range Dropped(in, status, content) {
		got = append(got, e.Name)
	}
	if diff := cmp.Diff("dropped dropped-by-both of-no-task of-deploy-and-update", strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
}

func TestPrunes(t *testing.T) {
	for _, c := range []struct {
		trigger    v1beta1.TriggerReason
		plan       string
		parameters map[string]string
		describes  bool
		prunes     bool
	}{
		{v1beta1.TriggerManual, "deploy", nil, true, true},
		{v1beta1.TriggerManual, "deploy", map[string]string{"SIZE": "1"}, true, false},
		{v1beta1.TriggerParameterChange, "update", nil, true, true},
		{v1beta1.TriggerUpgrade, "upgrade", nil, true, true},
		{v1beta1.TriggerCreate, "deploy", nil, true, true},
		{v1beta1.TriggerManual, "backup", nil, false, false},
		{v1beta1.TriggerParameterChange, "backup", nil, false, false},
		{v1beta1.TriggerCleanup, "cleanup", nil, false, false},
	} {
		spec := &v1beta1.PlanExecutionSpec{Trigger: c.trigger, PlanName: c.plan, Parameters: c.parameters}
		if d, p := Describes(spec), Prunes(spec); d != c.describes || p != c.prunes {
			t.Errorf("%s by %s: describes %t, prunes %t", c.plan, c.trigger, d, p)
		}
	}
}
