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
		{"an upgrade with parameters of another plan", all, true, []string{"file"}, "", "", "", true},
		{"an upgrade with parameters of update", all, true, []string{"plain"}, "", "", "", true},
		{"an upgrade with parameters of deploy", version("deploy", "upgrade"), true, []string{"plain"}, "", "upgrade", kudo.TriggerUpgrade, false},
		{"cleanup", version("deploy", "cleanup"), false, nil, "cleanup", "", "", true},
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
	same := version("deploy")
	mutable, without := version("deploy"), version("deploy")
	for i, p := range mutable.Spec.Parameters {
		if p.Name == "fixed" {
			mutable.Spec.Parameters[i].Immutable = nil
			without.Spec.Parameters = append(without.Spec.Parameters[:i:i], without.Spec.Parameters[i+1:]...)
		}
	}
	another := version("deploy")
	fixed := []string{"spec.parameters[fixed]"}
	for _, tc := range []struct {
		name          string
		before, after map[string]string
		from          *kudo.OperatorVersion
		want          []string
	}{
		{"good", map[string]string{"plain": "a"}, map[string]string{"plain": "b", "count": "3"}, same, nil},
		{"wrong type", nil, map[string]string{"count": "three"}, same, []string{"spec.parameters[count]"}},
		{"an immutable value changed", map[string]string{"fixed": "a"}, map[string]string{"fixed": "b"}, same, fixed},
		{"an immutable value removed", map[string]string{"fixed": "a"}, nil, same, fixed},
		{"an immutable value set late", nil, map[string]string{"fixed": "b"}, same, fixed},
		{"an immutable value changed by an upgrade", map[string]string{"fixed": "a"}, map[string]string{"fixed": "b"}, another, fixed},
		{"an immutable value removed by an upgrade", map[string]string{"fixed": "a"}, nil, another, fixed},
		{"an immutable value that never was there, in an upgrade", nil, nil, another, nil},
		{"an upgrade from a version that is gone keeps values", map[string]string{"fixed": "a"}, map[string]string{"fixed": "b"}, nil, fixed},
		{"an immutable value that an upgrade brings", nil, map[string]string{"fixed": "b"}, without, nil},
		{"an upgrade that brings an immutable parameter without value", nil, nil, without, fixed},
		{"a value changed by the upgrade that makes it immutable", map[string]string{"fixed": "a"}, map[string]string{"fixed": "b"}, mutable, nil},
		{"an upgrade that makes a parameter without value immutable", nil, nil, mutable, fixed},
		{"a misspelt name", nil, map[string]string{"pain": "a"}, same, []string{"spec.parameters[pain]"}},
		{"an old unknown value stays", map[string]string{"old": "a"}, map[string]string{"old": "a", "plain": "b"}, same, nil},
		{"an old unknown value is removed", map[string]string{"old": "a"}, nil, same, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: tc.before}}
			after := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: tc.after}}
			var got []string
			for _, e := range checkParameters(after, before, same, tc.from, changedParameters(tc.before, tc.after)) {
				got = append(got, e.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpgradeParameters(t *testing.T) {
	before, after := version("deploy"), version("deploy")
	after.Spec.Parameters = append(after.Spec.Parameters[1:], kudo.Parameter{Name: "new"}) // without plain
	old := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: map[string]string{"plain": "a", "other": "b", "stale": "c"}}}
	i := &kudo.Instance{Spec: kudo.InstanceSpec{Parameters: map[string]string{"plain": "a", "other": "x", "stale": "d", "new": "y"}}}
	dropUndefined(i, old, after)
	if want := map[string]string{"other": "x", "stale": "d", "new": "y"}; !cmp.Equal(want, i.Spec.Parameters) {
		t.Errorf("kept %v, want %v: what the new version does not define goes, what the request sets stays to be refused", i.Spec.Parameters, want)
	}
	changed := changedParameters(old.Spec.Parameters, i.Spec.Parameters)
	if got := sets.List(known(before, after, old, changed)); !cmp.Equal(got, []string{"other", "plain"}) {
		t.Errorf("%v count for the choice of a plan", got)
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
		anew bool
	}{
		{"nothing", idle, kudo.InstancePlanExecution{}, "", false},
		{"a trigger", idle, kudo.InstancePlanExecution{PlanName: "backup"}, "backup", false},
		{"a trigger with a uid of the client's", idle, kudo.InstancePlanExecution{PlanName: "backup", UID: "x"}, "backup", false},
		{"what was read while the plan ran, which has ended since", idle, kudo.InstancePlanExecution{PlanName: "backup", UID: "1"}, "", false},
		{"what was read, and still holds", running, kudo.InstancePlanExecution{PlanName: "backup", UID: "2"}, "", false},
		{"the plan that runs", running, kudo.InstancePlanExecution{PlanName: "backup"}, "", false},
		{"the plan that runs, with a uid of the client's", running, kudo.InstancePlanExecution{PlanName: "backup", UID: "x"}, "backup", true},
		{"another plan while one runs", running, kudo.InstancePlanExecution{PlanName: "deploy"}, "deploy", false},
		{"no mention while one runs", running, kudo.InstancePlanExecution{}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, anew := askedPlan(&kudo.Instance{Spec: kudo.InstanceSpec{PlanExecution: tc.sent}}, tc.old)
			if got != tc.want || anew != tc.anew {
				t.Errorf("got %q, anew=%v, want %q, %v", got, anew, tc.want, tc.anew)
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
