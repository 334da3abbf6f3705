// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
)

// fields are the paths that the errors name.
func fields(errs field.ErrorList) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Field)
	}
	return out
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "ns"} }

func TestValidateOperatorVersion(t *testing.T) {
	phases := func(p ...kudo.Phase) map[string]kudo.Plan { return map[string]kudo.Plan{"deploy": {Phases: p}} }
	for _, tc := range []struct {
		name string
		spec kudo.OperatorVersionSpec
		want []string
	}{
		{"empty", kudo.OperatorVersionSpec{}, nil},
		{"an empty plan", kudo.OperatorVersionSpec{Plans: map[string]kudo.Plan{"deploy": {}}}, nil},
		{"tasks that do not exist are for the run to find", kudo.OperatorVersionSpec{Plans: phases(kudo.Phase{Name: "a", Steps: []kudo.Step{{Name: "s", Tasks: []string{"none"}}}})}, nil},
		{"plan names are part of a verb", kudo.OperatorVersionSpec{Plans: map[string]kudo.Plan{"*": {}}}, []string{"spec.plans[*]"}},
		{"strategies", kudo.OperatorVersionSpec{Plans: map[string]kudo.Plan{"deploy": {Strategy: "Serial", Phases: []kudo.Phase{{Name: "a", Strategy: "both"}}}}},
			[]string{"spec.plans[deploy].strategy", "spec.plans[deploy].phases[0].strategy"}},
		{"names of phases", kudo.OperatorVersionSpec{Plans: phases(kudo.Phase{Name: "a"}, kudo.Phase{Name: "a"}, kudo.Phase{})},
			[]string{"spec.plans[deploy].phases[1].name", "spec.plans[deploy].phases[2].name"}},
		{"names of steps", kudo.OperatorVersionSpec{Plans: phases(kudo.Phase{Name: "a", Steps: []kudo.Step{{Name: "s"}, {Name: "s"}}}, kudo.Phase{Name: "b", Steps: []kudo.Step{{Name: "s"}}})},
			[]string{"spec.plans[deploy].phases[0].steps[1].name"}},
		{"names of parameters", kudo.OperatorVersionSpec{Parameters: []kudo.Parameter{{Name: "p"}, {Name: "p"}, {}}},
			[]string{"spec.parameters[1].name", "spec.parameters[2].name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := fields(ValidateOperatorVersion(&kudo.OperatorVersion{ObjectMeta: meta("o"), Spec: tc.spec}))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateInstance(t *testing.T) {
	ref := func(namespace, name string) kudo.InstanceSpec {
		return kudo.InstanceSpec{OperatorVersion: kudo.ObjectReference{Namespace: namespace, Name: name}}
	}
	for _, tc := range []struct {
		name     string
		instance string
		spec     kudo.InstanceSpec
		want     []string
	}{
		{"good", "db", ref("", "mysql-5.7-0.3.0"), nil},
		{"a foreign namespace", "db", ref("other", "v"), nil},
		{"no version", "db", ref("", ""), []string{"spec.operatorVersion.name"}},
		{"bad version", "db", ref("Bad", "Bad"), []string{"spec.operatorVersion.name", "spec.operatorVersion.namespace"}},
		{"bad name", "DB", ref("", "v"), []string{"metadata.name"}},
		{"a name that is no label", strings.Repeat("a", 64), ref("", "v"), []string{"metadata.name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := fields(ValidateInstance(&kudo.Instance{ObjectMeta: meta(tc.instance), Spec: tc.spec}))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateParameterValues(t *testing.T) {
	yes, one := true, "1"
	definitions := []kudo.Parameter{
		{Name: "req", Required: &yes},
		{Name: "def", Required: &yes, Default: &one, Type: kudo.IntegerValueType},
		{Name: "int", Type: kudo.IntegerValueType}, {Name: "num", Type: kudo.NumberValueType}, {Name: "bool", Type: kudo.BooleanValueType},
		{Name: "list", Type: kudo.ArrayValueType}, {Name: "map", Type: kudo.MapValueType},
		{Name: "enum", Enum: kudo.EnumValues{"a", "b"}}, {Name: "none", Enum: kudo.EnumValues{}},
	}
	for _, tc := range []struct {
		name   string
		values map[string]string
		want   []string
	}{
		{"good", map[string]string{"req": "x", "int": "-3", "num": "1e3", "bool": "T", "list": "[1, a]", "map": "{a: 1}", "enum": "b"}, nil},
		{"defaults and empty values", map[string]string{"req": "x", "int": "", "enum": ""}, nil},
		{"required", nil, []string{"p[req]"}},
		{"required but empty", map[string]string{"req": ""}, []string{"p[req]"}},
		{"types", map[string]string{"req": "x", "int": "1.5", "num": "one", "bool": "yes", "list": "a: 1", "map": "[1]"}, []string{"p[int]", "p[num]", "p[bool]", "p[list]", "p[map]"}},
		{"broken YAML", map[string]string{"req": "x", "map": "{a"}, []string{"p[map]"}},
		{"enum", map[string]string{"req": "x", "enum": "c", "none": "a"}, []string{"p[enum]", "p[none]"}},
		{"values that nothing defines", map[string]string{"req": "x", "other": "y"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := fields(ValidateParameterValues(definitions, tc.values, field.NewPath("p")))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := fields(ValidateParameterNames(definitions, map[string]string{"int": "1", "other": "y"}, field.NewPath("p"))); !cmp.Equal(got, []string{"p[other]"}) {
		t.Errorf("names: %v", got)
	}
}

func TestValidatePlanExecution(t *testing.T) {
	zero, minus, sixty := int64(0), int32(-1), int64(60)
	for _, tc := range []struct {
		name string
		spec kudo.PlanExecutionSpec
		want []string
	}{
		{"good", kudo.PlanExecutionSpec{InstanceName: "db", PlanName: "backup", ActiveDeadlineSeconds: &sixty}, nil},
		{"empty", kudo.PlanExecutionSpec{}, []string{"spec.instanceName", "spec.planName"}},
		{"bad names", kudo.PlanExecutionSpec{InstanceName: "d b", PlanName: "a:b"}, []string{"spec.instanceName", "spec.planName"}},
		{"bad limits", kudo.PlanExecutionSpec{InstanceName: "db", PlanName: "p", ActiveDeadlineSeconds: &zero, TTLSecondsAfterFinished: &minus},
			[]string{"spec.activeDeadlineSeconds", "spec.ttlSecondsAfterFinished"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := fields(ValidatePlanExecution(&kudo.PlanExecution{ObjectMeta: meta("r"), Spec: tc.spec}))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidatePlanExecutionUpdate(t *testing.T) {
	old := &kudo.PlanExecution{ObjectMeta: meta("r"), Spec: kudo.PlanExecutionSpec{InstanceName: "db", PlanName: "backup"}}
	old.ResourceVersion = "1"
	changed := old.DeepCopy()
	changed.Spec.Suspend = true
	if errs := ValidatePlanExecutionUpdate(changed, old); len(errs) > 0 {
		t.Errorf("suspend cannot be changed: %v", errs)
	}
	changed.Spec = kudo.PlanExecutionSpec{InstanceName: "other", PlanName: "restore", Parameters: map[string]string{"a": "b"}}
	if diff := cmp.Diff([]string{"spec.instanceName", "spec.planName", "spec.parameters"}, fields(ValidatePlanExecutionUpdate(changed, old))); diff != "" {
		t.Error(diff)
	}
	old.Status.Status = kudo.ExecutionComplete
	ended := old.DeepCopy()
	ended.Status.Status = kudo.ExecutionInProgress
	if diff := cmp.Diff([]string{"status"}, fields(ValidatePlanExecutionStatusUpdate(ended, old))); diff != "" {
		t.Error(diff)
	}
}

func TestValidatePlanExecutionStatus(t *testing.T) {
	tree := func(run, phase, step, task kudo.ExecutionStatus) kudo.PlanExecutionStatus {
		return kudo.PlanExecutionStatus{Status: run, Phases: []kudo.PhaseExecutionStatus{{Name: "p", Status: phase,
			Steps: []kudo.StepExecutionStatus{{Name: "s", Status: step, Tasks: []kudo.TaskExecutionStatus{{Name: "t", Status: task}}}}}}}
	}
	const begun, waits, done = kudo.ExecutionInProgress, kudo.ExecutionPending, kudo.ExecutionComplete
	for _, tc := range []struct {
		name        string
		before, now kudo.PlanExecutionStatus
		want        []string
	}{
		{"progress", tree(waits, waits, waits, waits), tree(begun, begun, kudo.ErrorStatus, done), nil},
		{"words that are no status", tree(waits, waits, waits, waits), tree("Complete", "", "x", "y"),
			[]string{"status.status", "status.phases[0].status", "status.phases[0].steps[0].status", "status.phases[0].steps[0].tasks[0].status"}},
		{"pending again", tree(begun, begun, begun, begun), tree(waits, begun, begun, begun), []string{"status.status"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := &kudo.PlanExecution{ObjectMeta: meta("r"), Status: tc.before}
			old.ResourceVersion = "1"
			now := old.DeepCopy()
			now.Status = tc.now
			if diff := cmp.Diff(tc.want, fields(ValidatePlanExecutionStatusUpdate(now, old))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
