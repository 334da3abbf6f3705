// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo"
)

func TestPlanOfPath(t *testing.T) {
	for path, want := range map[string]string{
		"": "all", "/": "all", "backup": "backup", "/backup": "backup", "backup/status": "backup", "/backup/status": "backup",
		"backup/": "backup", "/backup/status/": "backup", "//backup": "none", "backup//": "none", "backup//status": "none", "backup/log": "none", "backup/status/x": "none",
		"backup/Status": "none", "/status/backup": "none", "backup/status//": "none",
	} {
		plan, ok := planOfPath(path)
		got := plan
		switch {
		case !ok:
			got = "none"
		case plan == "":
			got = "all"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}

// TestPlansOf: what is defined and what has run are listed, once each, with what stands in the way of all of them.
func TestPlansOf(t *testing.T) {
	ov := version("deploy", "backup", "never")
	i := &kudo.Instance{}
	i.Status.PlanStatus = map[string]kudo.PlanStatus{
		"deploy": {Name: "deploy", Status: kudo.ExecutionComplete, UID: "1"},
		"backup": {Name: "backup", Status: kudo.ExecutionInProgress, UID: "2"},
		"old":    {Name: "old", Status: kudo.ExecutionFatalError, UID: "3"},
		"older":  {Name: "older", Status: kudo.ExecutionNeverRun},
		"never":  {Name: "never", Status: kudo.ExecutionNeverRun},
		"blank":  {},
	}
	i.Spec.PlanExecution = kudo.InstancePlanExecution{PlanName: "backup", UID: "2", Status: kudo.ExecutionInProgress, Template: &kudo.PlanExecutionTemplate{
		Name: "run", Spec: kudo.PlanExecutionSpec{Trigger: kudo.TriggerManual, RequestedBy: &kudo.RequestedBy{Username: "alice"}}}}
	describe := func(plans []kudo.InstancePlan) []string {
		var out []string
		for _, p := range plans {
			last := ""
			if p.LastRun != nil {
				last = string(p.LastRun.UID)
			}
			out = append(out, fmt.Sprintf("%s defined=%t active=%t last=%q", p.Name, p.Defined, p.Active, last))
		}
		return out
	}
	plans := plansOf(i, ov)
	if diff := cmp.Diff([]string{
		`backup defined=true active=true last="2"`, `deploy defined=true active=false last="1"`,
		`never defined=true active=false last=""`, `old defined=false active=false last="3"`,
	}, describe(plans)); diff != "" {
		t.Error(diff)
	}
	want := kudo.PlanLock{Name: "run", UID: "2", PlanName: "backup", Status: kudo.ExecutionInProgress, RequestedBy: "alice", Trigger: kudo.TriggerManual}
	for _, p := range plans {
		if p.LockedBy == nil || *p.LockedBy != want {
			t.Errorf("%s is locked by %+v", p.Name, p.LockedBy)
		}
	}
	i.Spec.PlanExecution = kudo.InstancePlanExecution{}
	for _, p := range plansOf(i, &kudo.OperatorVersion{}) {
		if p.Defined || p.LockedBy != nil || p.LastRun == nil {
			t.Errorf("without an OperatorVersion: %+v", p)
		}
	}
}
