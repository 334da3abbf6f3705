// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package child

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

func TestNames(t *testing.T) {
	spec := v1beta1.TaskSpec{Package: "kafka", OperatorVersion: "1.0.0"}
	if InstanceName("p", &spec) != "p-kafka" || VersionName(&spec) != "kafka-1.0.0" {
		t.Error(InstanceName("p", &spec), VersionName(&spec))
	}
	spec.InstanceName, spec.AppVersion = "own", "2.5"
	if InstanceName("p", &spec) != "own" || VersionName(&spec) != "kafka-2.5-1.0.0" {
		t.Error(InstanceName("p", &spec), VersionName(&spec))
	}
}

// managed says that a parent set the parameters.
func managed(names ...string) []metav1.ManagedFieldsEntry {
	raw := `{"f:spec":{"f:parameters":{".":{}`
	for _, n := range names {
		raw += `,"f:` + n + `":{}`
	}
	return []metav1.ManagedFieldsEntry{{Manager: "kudo", Operation: "Apply", FieldsV1: metav1.NewFieldsV1(raw + "}}}")}}
}

func TestFirst(t *testing.T) {
	content := &v1beta1.OperatorVersionSpec{Parameters: []v1beta1.Parameter{{Name: "a"}, {Name: "b", Trigger: "deploy"}, {Name: "c", Trigger: "resize"}, {Name: "d", Trigger: "resize"}, {Name: "new"}}}
	type values = map[string]string
	for _, c := range []struct {
		name       string
		has, want  values
		owned      []string
		version    string
		first      values
		several    bool
		updatePlan bool
	}{
		{name: "nothing", has: values{"a": "1", "x": "user"}, want: values{"a": "1"}, first: values{"a": "1"}},
		{name: "one plan", has: values{"a": "1"}, want: values{"a": "2", "b": "2"}, first: values{"a": "2", "b": "2"}},
		{name: "two plans", has: values{"a": "1", "c": "1"}, want: values{"a": "2", "c": "2", "d": "2"}, first: values{"a": "2", "c": "1"}, several: true},
		{name: "the second of two", has: values{"a": "2", "c": "1"}, want: values{"a": "2", "c": "2", "d": "2"}, first: values{"a": "2", "c": "2", "d": "2"}},
		{name: "update is a plan of its own", has: values{}, want: values{"a": "2", "b": "2"}, first: values{"a": "2"}, several: true, updatePlan: true},
		{name: "dropped by the parent", has: values{"a": "1", "c": "1", "x": "user"}, want: values{"a": "1"}, owned: []string{"a", "c"}, first: values{"a": "1"}},
		{name: "upgrade", has: values{"a": "1", "c": "1"}, want: values{"a": "2", "c": "2", "new": "n"}, version: "v1", first: values{"a": "1", "c": "1", "new": "n"}, several: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := content.DeepCopy()
			content.Plans = map[string]v1beta1.Plan{"deploy": {}, "resize": {}}
			if c.updatePlan {
				content.Plans["update"] = v1beta1.Plan{}
			}
			i := &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", ManagedFields: managed(c.owned...)},
				Spec: v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: "v2", Namespace: "ns"}, Parameters: c.has}}
			if c.version != "" {
				i.Spec.OperatorVersion.Name = c.version
			}
			target := Target{Version: v1beta1.ObjectReference{Name: "v2"}, Content: content, Parameters: c.want}
			if target.Upgrades(i) != (c.version != "") {
				t.Errorf("upgrades: %v", target.Upgrades(i))
			}
			first, several := target.First(i, content.Parameters[:4])
			if diff := cmp.Diff(c.first, first.Parameters); diff != "" || several != c.several || first.Last == several {
				t.Errorf("several %v, last %v (-want +got):\n%s", several, first.Last, diff)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	at := func(s int) metav1.Time { return metav1.Unix(int64(s), 0) }
	run := func(name, plan string, trigger v1beta1.TriggerReason, s int, reason string) v1beta1.PlanExecution {
		pe := v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: at(s)}, Spec: v1beta1.PlanExecutionSpec{PlanName: plan, Trigger: trigger}}
		if reason != "" {
			pe.Status.Conditions = []metav1.Condition{{Type: v1beta1.FailedConditionType, Status: "True", Reason: reason}}
		}
		return pe
	}
	status := func(s v1beta1.ExecutionStatus, seconds int, uid, message string) v1beta1.PlanStatus {
		at := at(seconds)
		return v1beta1.PlanStatus{Status: s, LastUpdatedTimestamp: &at, UID: types.UID(uid), Message: message}
	}
	version := func(pe v1beta1.PlanExecution, v string) v1beta1.PlanExecution {
		pe.ResourceVersion = v
		return pe
	}
	for _, c := range []struct {
		name  string
		plans map[string]v1beta1.PlanStatus
		runs  []v1beta1.PlanExecution
		ready string
		want  Verdict
	}{
		{"no plan ever", nil, nil, "", Verdict{Ready: true}},
		{"deployed", map[string]v1beta1.PlanStatus{"deploy": status("COMPLETE", 1, "a", "")}, []v1beta1.PlanExecution{run("a", "deploy", "Create", 1, "")}, "", Verdict{Ready: true}},
		{"a backup failed since", map[string]v1beta1.PlanStatus{"deploy": status("COMPLETE", 1, "a", ""), "backup": status("FATAL_ERROR", 9, "b", "")},
			[]v1beta1.PlanExecution{run("a", "deploy", "Create", 1, ""), run("b", "backup", "Manual", 9, "Failed")}, "", Verdict{Ready: true}},
		{"the plan of a trigger failed", map[string]v1beta1.PlanStatus{"deploy": status("COMPLETE", 9, "a", ""), "resize": status("FATAL_ERROR", 5, "b", "no disk")},
			[]v1beta1.PlanExecution{run("b", "resize", "ParameterChange", 5, "Failed"), run("a", "deploy", "Create", 1, "")}, "", Verdict{Failed: true, Message: "run b of its plan resize failed: no disk"}},
		{"mended by hand", map[string]v1beta1.PlanStatus{"deploy": status("COMPLETE", 9, "b", "")},
			[]v1beta1.PlanExecution{run("a", "deploy", "Create", 1, "Failed"), run("b", "deploy", "Manual", 9, "")}, "", Verdict{Ready: true}},
		{"superseded in the same second", map[string]v1beta1.PlanStatus{"resize": status("FATAL_ERROR", 1, "a", ""), "deploy": status("COMPLETE", 1, "b", "")},
			[]v1beta1.PlanExecution{run("b", "deploy", "Create", 1, ""), run("a", "resize", "ParameterChange", 1, v1beta1.ReasonSuperseded)}, "", Verdict{Ready: true}},
		{"two in the same second", map[string]v1beta1.PlanStatus{"resize": status("FATAL_ERROR", 1, "b", "no disk"), "deploy": status("COMPLETE", 1, "a", "")},
			[]v1beta1.PlanExecution{version(run("b", "resize", "ParameterChange", 1, "Failed"), "12"), version(run("a", "deploy", "Create", 1, ""), "9")}, "", Verdict{Failed: true, Message: "run b of its plan resize failed"}},
		{"no history", map[string]v1beta1.PlanStatus{"deploy": status("COMPLETE", 1, "a", ""), "update": status("FATAL_ERROR", 5, "b", "x"), "backup": status("COMPLETE", 9, "c", "")}, nil, "", Verdict{Failed: true, Message: "run b of its plan update failed: x"}},
		{"not ready", map[string]v1beta1.PlanStatus{"deploy": status("COMPLETE", 1, "a", "")}, nil, "1 of 3 pods", Verdict{Ready: true, Message: "its plan is complete, but it is not ready: 1 of 3 pods. This is not waited for; to have it mended: kubectl kudo plan trigger --name deploy --instance "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := &v1beta1.Instance{Status: v1beta1.InstanceStatus{PlanStatus: c.plans}}
			if c.ready != "" {
				i.Status.Conditions = []metav1.Condition{{Type: v1beta1.ReadyConditionType, Status: "False", Message: c.ready}}
			}
			got := Judge(i, c.runs)
			if got.Ready != c.want.Ready || got.Failed != c.want.Failed || !strings.HasPrefix(got.Message, c.want.Message) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestBusy(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	for want, i := range map[string]*v1beta1.Instance{
		"":                                     {},
		"it is being deleted":                  {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}},
		"its plan deploy (run r) is under way": {Spec: v1beta1.InstanceSpec{PlanExecution: v1beta1.InstancePlanExecution{PlanName: "deploy", UID: "u", Template: &v1beta1.PlanExecutionTemplate{Name: "r"}}}},
	} {
		if got := Busy(i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAcyclic(t *testing.T) {
	versions := map[string][]string{"a-1": {"b"}, "b-1": {"c", "d"}, "c-1": {"d"}, "d-1": nil, "x-1": {"y"}, "y-1": {"x"}, "self-1": {"self"}, "gap-1": {"missing"}}
	read := func(name string) (*v1beta1.OperatorVersion, error) {
		if name == "away-1" {
			return nil, errors.New("away")
		}
		packages, ok := versions[name]
		if !ok {
			return nil, nil
		}
		ov := &v1beta1.OperatorVersion{Spec: v1beta1.OperatorVersionSpec{Plans: map[string]v1beta1.Plan{"deploy": {Phases: []v1beta1.Phase{{Steps: []v1beta1.Step{{Tasks: packages}}}}}}}}
		for _, p := range packages {
			ov.Spec.Tasks = append(ov.Spec.Tasks, v1beta1.Task{Name: p, Kind: "KudoOperator", Spec: v1beta1.TaskSpec{Package: p, OperatorVersion: "1"}})
		}
		// A task that no plan uses makes nothing.
		ov.Spec.Tasks = append(ov.Spec.Tasks, v1beta1.Task{Name: "unused", Kind: "KudoOperator", Spec: v1beta1.TaskSpec{Package: "a", OperatorVersion: "1"}})
		return ov, nil
	}
	for _, c := range []struct{ parent, version, want string }{
		{"p", "a-1", ""}, {"p", "gap-1", ""}, {"a-1", "b-1", ""},
		{"p", "self-1", "self-1 -> self-1"}, {"p", "x-1", "p -> x-1 -> y-1 -> x-1"}, {"c-1", "b-1", "c-1 -> b-1 -> c-1"}, {"p", "p", "p -> p"}, {"p", "away-1", "away"},
	} {
		err := Acyclic(c.parent, c.version, read)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s -> %s: got %v, want %s", c.parent, c.version, err, c.want)
		}
		if reason, final := fault.Classify(err); err != nil && c.want != "away" && (!final || reason != fault.ReasonCycle) {
			t.Errorf("%v is not final", err)
		}
	}
}
