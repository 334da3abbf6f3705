// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// plansAs reads the plans of an Instance, or what lies below, by name.
func plansAs(t *testing.T, user, namespace, instance string, below ...string) map[string]v1beta1.InstancePlan {
	t.Helper()
	got := env.Expect(t, http.StatusOK, harness.Request{User: user, Method: "GET", Path: harness.Path(namespace, append([]string{"instances", instance, "plans"}, below...)...)}).Object(t)
	var plans v1beta1.InstancePlans
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &plans); err != nil {
		t.Fatal(err)
	}
	if plans.Kind != "InstancePlans" || plans.Name != instance || plans.UID == "" {
		t.Errorf("the answer is %s of %q", plans.Kind, plans.Name)
	}
	out := map[string]v1beta1.InstancePlan{}
	for _, p := range plans.Plans {
		out[p.Name] = p
	}
	return out
}

func keys(plans map[string]v1beta1.InstancePlan) string {
	var out []string
	for _, name := range []string{"backup", "cleanup", "deploy", "restore", "update"} {
		if _, ok := plans[name]; ok {
			out = append(out, name)
		}
	}
	if len(out) != len(plans) {
		out = append(out, fmt.Sprintf("and others: %v", plans))
	}
	return strings.Join(out, " ")
}

// TestPlansOfTheCaller: everybody is told what they may start, and what stands in the way.
func TestPlansOfTheCaller(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "get,create,trigger:backup instances/plans db")
	env.Grant(t, ns, cluster.Bob, "get,trigger instances/plans")
	deploy := env.Names(t, harness.Path(ns, "planexecutions"))[0]
	for user, may := range map[string]string{cluster.Alice: "backup", cluster.Bob: "backup deploy restore update", cluster.Admin: "backup deploy restore update"} {
		for name, p := range plansAs(t, user, ns, "db") {
			want := strings.Contains(may, name)
			if p.MayTrigger != want || (p.MayTriggerMessage == "") != want || !want && !strings.Contains(p.MayTriggerMessage, `"trigger:`+name+`"`) {
				t.Errorf("%s and %s: %t, %q", user, name, p.MayTrigger, p.MayTriggerMessage)
			}
			if !p.Defined || p.Active || p.LockedBy != nil || (p.LastRun != nil) != (name == "deploy") || (p.LastRunName == deploy) != (name == "deploy") {
				t.Errorf("%s of an idle Instance: %+v", name, p)
			}
		}
	}
	path := paths["plans/P:trigger"](ns, "db", "backup", "")
	path.User = cluster.Alice
	run := env.Expect(t, http.StatusCreated, path).Object(t)
	locked := plansAs(t, cluster.Alice, ns, "db")
	for name, p := range locked {
		l := p.LockedBy
		if l == nil || l.Name != run.GetName() || l.UID != run.GetUID() || l.PlanName != "backup" || l.Status == "" || l.RequestedBy != cluster.Alice || l.Trigger != v1beta1.TriggerManual {
			t.Errorf("%s is locked by %+v", name, l)
		}
		if p.Active != (name == "backup") {
			t.Errorf("%s is active: %t", name, p.Active)
		}
	}
	if got := keys(locked); got != "backup deploy restore update" {
		t.Errorf("the plans are %s", got)
	}
	if got := locked["backup"].LastRunName; got != run.GetName() {
		t.Errorf("the last run is %q, want %q", got, run.GetName())
	}
	for _, below := range [][]string{{"backup"}, {"backup", "status"}} {
		one := plansAs(t, cluster.Alice, ns, "db", below...)
		p := one["backup"]
		if keys(one) != "backup" || p.LastRunName != run.GetName() || p.LastRun == nil || len(p.LastRun.Phases) != 1 || len(p.LastRun.Phases[0].Steps) != 2 || !p.MayTrigger || p.LockedBy == nil {
			t.Errorf("%v has %+v", below, one)
		}
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", deploy)})
	env.Until(t, patience, "the run of deploy to be forgotten", func() error {
		if p := plansAs(t, cluster.Alice, ns, "db")["deploy"]; p.LastRunName != "" || p.LastRun == nil || p.LastRun.UID == "" {
			return fmt.Errorf("%+v", p)
		}
		return nil
	})
}

// TestPlansPaths: what is not there is not found, and what is there is named.
func TestPlansPaths(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	plans := harness.Path(ns, "instances", "db", "plans")
	for path, text := range map[string]string{
		"/nope":            `the plans ["backup" "deploy" "restore" "update"]`,
		"/nope/status":     `the plans ["backup" "deploy" "restore" "update"]`,
		"/backup/log":      "PLAN/status",
		"/backup/status/x": "PLAN/status",
		"/backup//status":  "PLAN/status",
		"//backup":         "PLAN/status",
		"//":               "PLAN/status",
		"/backup//":        "PLAN/status",
		"/backup:trigger":  "not found",
		"/Backup":          "not found",
	} {
		env.Expect(t, http.StatusNotFound, harness.Request{Method: "GET", Path: plans + path}, text)
	}
	for _, path := range []string{"/", "/backup/", "/backup/status/"} { // a slash at the end is forgiven
		env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: plans + path})
	}
}

// TestPlansThatAreNotDefined: a plan that has run is listed after an upgrade that dropped it, and when the OperatorVersion is gone.
func TestPlansThatAreNotDefined(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusCreated, paths["plans"](ns, "db", "restore", ""))
	env.Idle(t, ns, "db")
	second := strings.NewReplacer("demo-1.0.0", "demo-2.0.0", "version: 1.0.0", "version: 2.0.0", "    restore: {", "    cleanup: {").Replace(harness.Version)
	env.Create(t, ns, "operatorversions", second)
	env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "instances", "db"),
		Body: `{"spec":{"operatorVersion":{"name":"demo-2.0.0"}}}`})
	env.Idle(t, ns, "db")
	check := func(when, want string, defined string) {
		t.Helper()
		plans := plansAs(t, cluster.Admin, ns, "db")
		if got := keys(plans); got != want {
			t.Errorf("%s the plans are %s, want %s", when, got, want)
		}
		for name, p := range plans {
			ran := name == "deploy" || name == "restore" || name == "update"
			if p.Defined != strings.Contains(defined, name) || (p.LastRun != nil) != ran || (p.LastRunName != "") != ran || !p.MayTrigger {
				t.Errorf("%s: %+v", when, p)
			}
		}
	}
	check("after the upgrade", "backup cleanup deploy restore update", "backup cleanup deploy update")
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "operatorversions", "demo-2.0.0")})
	env.Until(t, patience, "the OperatorVersion to be gone", func() error {
		if got := env.Send(t, harness.Request{Method: "GET", Path: harness.Path(ns, "operatorversions", "demo-2.0.0")}); got.Code != http.StatusNotFound {
			return errors.New(got.Text())
		}
		return nil
	})
	check("without the OperatorVersion", "deploy restore update", "")
	env.Expect(t, http.StatusNotFound, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "db", "plans", "backup")}, `["deploy" "restore" "update"]`)
}
