// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"kudo.dev/kudo/apis/kudo"
)

func version(plans ...string) *kudo.OperatorVersion {
	ov := &kudo.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: kudo.OperatorVersionSpec{Plans: map[string]kudo.Plan{}}}
	for _, p := range plans {
		ov.Spec.Plans[p] = kudo.Plan{}
	}
	yes := true
	ov.Spec.Parameters = []kudo.Parameter{
		{Name: "plain"}, {Name: "other"}, {Name: "file", Trigger: "backup"}, {Name: "copy", Trigger: "restore"},
		{Name: "fixed", Immutable: &yes}, {Name: "count", Type: kudo.IntegerValueType},
	}
	return ov
}

func TestChoosePlan(t *testing.T) {
	all := version("deploy", "update", "upgrade", "backup", "restore")
	for _, tc := range []struct {
		name    string
		version *kudo.OperatorVersion
		upgrade bool
		changed []string
		asked   string
		plan    string
		trigger kudo.TriggerReason
		invalid bool
	}{
		{"an upgrade", all, true, nil, "", "upgrade", kudo.TriggerUpgrade, false},
		{"an upgrade with parameters", all, true, []string{"file"}, "", "upgrade", kudo.TriggerUpgrade, false},
		{"an upgrade without a plan for it", version("deploy", "update"), true, nil, "", "update", kudo.TriggerUpgrade, false},
		{"an upgrade with deploy only", version("deploy"), true, nil, "", "deploy", kudo.TriggerUpgrade, false},
		{"an upgrade with none of them", version("backup"), true, nil, "", "", "", true},
		{"a parameter without trigger", all, false, []string{"plain"}, "", "update", kudo.TriggerParameterChange, false},
		{"a parameter without trigger and update", version("deploy"), false, []string{"plain"}, "", "deploy", kudo.TriggerParameterChange, false},
		{"a parameter with trigger", all, false, []string{"file"}, "", "backup", kudo.TriggerParameterChange, false},
		{"both kinds", all, false, []string{"file", "plain"}, "", "backup", kudo.TriggerParameterChange, false},
		{"two triggers", all, false, []string{"file", "copy"}, "", "", "", true},
		{"a trigger without its plan", version("deploy"), false, []string{"file"}, "", "", "", true},
		{"a value that nothing defines was removed", all, false, []string{"gone"}, "", "", "", false},
		{"a plan was asked for", all, false, nil, "restore", "restore", kudo.TriggerManual, false},
		{"a plan that does not exist", all, false, nil, "nope", "", "", true},
		{"a plan and a change at once", all, false, []string{"plain"}, "restore", "", "", true},
		{"a plan and an upgrade at once", all, true, nil, "restore", "", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan, trigger, err := choosePlan(&kudo.Instance{}, tc.version, tc.upgrade, sets.New(tc.changed...), tc.asked)
			if apierrors.IsInvalid(err) != tc.invalid || (err != nil && !tc.invalid) {
				t.Fatalf("error %v, want invalid=%v", err, tc.invalid)
			}
			if err == nil && (plan != tc.plan || (plan != "" && trigger != tc.trigger)) {
				t.Errorf("got %s (%s), want %s (%s)", plan, trigger, tc.plan, tc.trigger)
			}
		})
	}
}

func TestCheckParameters(t *testing.T) {
	for _, tc := range []struct {
		name          string
		before, after map[string]string
		upgrade       bool
		want          []string
	}{
		{"good", map[string]string{"plain": "a"}, map[string]string{"plain": "b", "count": "3"}, false, nil},
		{"wrong type", nil, map[string]string{"count": "three"}, false, []string{"spec.parameters[count]"}},
		{"an immutable value changed", map[string]string{"fixed": "a"}, map[string]string{"fixed": "b"}, false, []string{"spec.parameters[fixed]"}},
		{"an immutable value removed", map[string]string{"fixed": "a"}, nil, false, []string{"spec.parameters[fixed]"}},
		{"an immutable value set late", nil, map[string]string{"fixed": "b"}, false, []string{"spec.parameters[fixed]"}},
		{"an immutable value changed by an upgrade", map[string]string{"fixed": "a"}, map[string]string{"fixed": "b"}, true, []string{"spec.parameters[fixed]"}},
		{"an immutable value that an upgrade brings", nil, map[string]string{"fixed": "b"}, true, nil},
		{"a misspelt name", nil, map[string]string{"pain": "a"}, false, []string{"spec.parameters[pain]"}},
		{"an old unknown value stays", map[string]string{"old": "a"}, map[string]string{"old": "a", "plain": "b"}, false, nil},
		{"an old unknown value is removed", map[string]string{"old": "a"}, nil, false, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: tc.before}}
			after := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: tc.after}}
			var got []string
			for _, e := range checkParameters(after, before, version("deploy"), tc.upgrade, changedParameters(tc.before, tc.after)) {
				got = append(got, e.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAskedPlan(t *testing.T) {
	idle := &kudo.Instance{Status: kudo.InstanceStatus{PlanStatus: map[string]kudo.PlanStatus{"backup": {UID: "1"}}}}
	running := idle.DeepCopy()
	running.Spec.PlanExecution = kudo.InstancePlanExecution{PlanName: "backup", UID: "2"}
	for _, tc := range []struct {
		name string
		old  *kudo.Instance
		sent kudo.InstancePlanExecution
		want string
	}{
		{"nothing", idle, kudo.InstancePlanExecution{}, ""},
		{"a trigger", idle, kudo.InstancePlanExecution{PlanName: "backup"}, "backup"},
		{"a trigger with a uid of the client's", idle, kudo.InstancePlanExecution{PlanName: "backup", UID: "x"}, "backup"},
		{"what was read while the plan ran, which has ended since", idle, kudo.InstancePlanExecution{PlanName: "backup", UID: "1"}, ""},
		{"what was read, and still holds", running, kudo.InstancePlanExecution{PlanName: "backup", UID: "2"}, ""},
		{"another plan while one runs", running, kudo.InstancePlanExecution{PlanName: "deploy"}, "deploy"},
		{"no mention while one runs", running, kudo.InstancePlanExecution{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := askedPlan(&kudo.Instance{Spec: kudo.InstanceSpec{PlanExecution: tc.sent}}, tc.old); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLabelAndFix(t *testing.T) {
	yes, def := true, "x"
	ov := &kudo.OperatorVersion{Spec: kudo.OperatorVersionSpec{
		Operator:   kudo.ObjectReference{Name: "db"},
		Parameters: []kudo.Parameter{{Name: "fixed", Immutable: &yes, Default: &def}, {Name: "free", Default: &def}},
	}}
	i := &kudo.Instance{}
	labelOperator(i, ov)
	fixImmutable(i, ov)
	if i.Labels[OperatorLabel] != "db" || !cmp.Equal(i.Spec.Parameters, map[string]string{"fixed": "x"}) {
		t.Errorf("got labels %v, parameters %v", i.Labels, i.Spec.Parameters)
	}
	set := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: map[string]string{"fixed": "y"}}}
	set.Labels = map[string]string{OperatorLabel: "mine"}
	labelOperator(set, ov)
	fixImmutable(set, ov)
	if set.Labels[OperatorLabel] != "mine" || set.Spec.Parameters["fixed"] != "y" {
		t.Errorf("what the user set was changed: %v, %v", set.Labels, set.Spec.Parameters)
	}
}
