// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestDefaultRoles: what each role of the installation allows, and what the roles of the cluster gain by them. Every request is sent by
// everybody, and is a dry run where it would change something.
func TestDefaultRoles(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	bound := map[string]string{viewer: "kudo-view", editor: "kudo-edit", runner: "kudo-plan-runner", chief: "kudo-admin", viewAll: "view", editAll: "edit", adminAll: "admin"}
	for user, role := range bound {
		bind(t, ns, user, "ClusterRole", role)
	}
	backup := env.Expect(t, http.StatusCreated, paths["POST plans"].request(t, ns, "db", "backup", "")).Object(t).GetName()
	env.Create(t, ns, "instances", harness.Instance("free"))
	env.Idle(t, ns, "free")
	// Of each role one of the rights that it has, so that a refusal below is not one that comes too early.
	for user, right := range map[string]string{
		viewer: "list planexecutions", editor: "patch planexecutions", runner: "trigger instances/plans", chief: "delete planexecutions",
		viewAll: "list planexecutions", editAll: "patch planexecutions", adminAll: "create planexecutions/cancel",
	} {
		verb, resource, _ := strings.Cut(right, " ")
		env.Until(t, patience, user+" to be allowed "+right, func() error { return wantCan(t, user, ns, verb, resource, "") })
	}
	path := func(below ...string) string { return harness.Path(ns, below...) }
	pe, dry := path("planexecutions", backup), "?dryRun=All"
	const (
		reads   = "viewer view-all edit-all admin-all"
		changes = "editor edit-all admin-all"
		runs    = "runner chief admin-all"
		ends    = "chief admin-all"
	)
	for name, tc := range map[string]struct {
		allowed string
		request harness.Request
	}{
		"list operators":      {reads, harness.Request{Method: "GET", Path: path("operators")}},
		"list versions":       {reads, harness.Request{Method: "GET", Path: path("operatorversions")}},
		"list revisions":      {reads, harness.Request{Method: "GET", Path: path("operatorversionrevisions")}},
		"list instances":      {reads, harness.Request{Method: "GET", Path: path("instances")}},
		"get instance":        {reads, harness.Request{Method: "GET", Path: path("instances", "db")}},
		"get instance status": {reads, harness.Request{Method: "GET", Path: path("instances", "db", "status")}},
		"list runs":           {reads + " runner chief", harness.Request{Method: "GET", Path: path("planexecutions")}},
		"get run":             {reads + " runner chief", harness.Request{Method: "GET", Path: pe}},
		"get run status":      {reads + " runner chief", harness.Request{Method: "GET", Path: pe + "/status"}},
		"get log":             {reads + " runner chief", harness.Request{Method: "GET", Path: pe + "/log"}},
		"get plans":           {reads + " runner chief", harness.Request{Method: "GET", Path: path("instances", "db", "plans")}},
		"get plan":            {reads + " runner chief", harness.Request{Method: "GET", Path: path("instances", "db", "plans", "backup", "status")}},

		"create instance": {changes, harness.Request{Method: "POST", Path: path("instances") + dry, Body: harness.Instance("new")}},
		"patch instance":  {changes, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: path("instances", "free") + dry, Body: `{"spec":{"parameters":{"SIZE":"2"}}}`}},
		"delete instance": {changes, harness.Request{Method: "DELETE", Path: path("instances", "free") + dry}},
		"delete versions": {changes, harness.Request{Method: "DELETE", Path: path("operatorversions") + dry}},
		"suspend run":     {changes, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: pe + dry, Body: `{"spec":{"suspend":true}}`}},
		"keep run":        {changes, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: pe + dry, Body: `{"spec":{"ttlSecondsAfterFinished":5}}`}},

		"trigger":               {runs, paths["POST plans/P:trigger"].request(t, ns, "free", "restore", dry)},
		"post to plans":         {runs, paths["POST plans"].request(t, ns, "free", "restore", dry)},
		"create run":            {runs, paths["POST planexecutions"].request(t, ns, "free", "restore", dry)},
		"plan by patch":         {"admin-all", paths["merge patch of the Instance"].request(t, ns, "free", "restore", dry)},
		"create run by apply":   {"admin-all", paths["apply planexecutions"].request(t, ns, "free", "restore", dry)},
		"cancel run":            {ends, harness.Request{Method: "POST", Type: harness.JSON, Path: pe + "/cancel" + dry, Body: `{"apiVersion":"kudo.dev/v1beta1","kind":"PlanExecutionCancel"}`}},
		"delete run":            {ends, harness.Request{Method: "DELETE", Path: pe + dry}},
		"delete runs":           {ends, harness.Request{Method: "DELETE", Path: path("planexecutions") + dry}},
		"write status of run":   {"", harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: pe + "/status" + dry, Body: `{"status":{"status":"COMPLETE"}}`}},
		"write instance status": {"", harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: path("instances", "free", "status") + dry, Body: `{"status":{"planStatus":{}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for user, role := range bound {
				got := env.Send(t, as(user, tc.request))
				want := strings.Contains(" "+tc.allowed+" ", " "+user+" ")
				if want && got.Code >= 300 || !want && got.Code != http.StatusForbidden {
					t.Errorf("%s (%s): allowed %v, got %d: %s", user, role, want, got.Code, got.Text())
				}
			}
		})
	}
}

// TestAuthCanI: kubectl answers what a user may do, before they try. A subresource is asked for by its flag; instances/plans would be an
// Instance of the name plans.
func TestAuthCanI(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	for user, role := range map[string]string{viewer: "kudo-view", editAll: "edit", runner: "kudo-plan-runner", chief: "kudo-admin"} {
		bind(t, ns, user, "ClusterRole", role)
	}
	env.Grant(t, ns, "alice", "get,create,trigger:backup instances/plans db")
	for question, want := range map[string]string{
		"alice create instances.kudo.dev/db --subresource=plans":            "yes",
		"alice trigger:backup instances.kudo.dev/db --subresource=plans":    "yes",
		"alice trigger:restore instances.kudo.dev/db --subresource=plans":   "no",
		"alice trigger instances.kudo.dev/db --subresource=plans":           "no",
		"alice trigger:backup instances.kudo.dev/other --subresource=plans": "no",
		"alice create instances.kudo.dev --subresource=plans":               "no",
		"alice create planexecutions.kudo.dev":                              "no",
		"viewer get instances --subresource=plans":                          "yes",
		"viewer create instances --subresource=plans":                       "no",
		"edit-all create instances --subresource=plans":                     "no",
		"edit-all trigger instances --subresource=plans":                    "no",
		"edit-all create planexecutions":                                    "no",
		"edit-all create planexecutions --subresource=cancel":               "no",
		"runner create instances --subresource=plans":                       "yes",
		"runner trigger instances --subresource=plans":                      "yes",
		"runner trigger:backup instances --subresource=plans":               "no", // which it need not: trigger is asked for next
		"chief create planexecutions --subresource=cancel":                  "yes",
		"chief delete planexecutions":                                       "yes",
		"chief trigger instances --subresource=plans":                       "yes",
	} {
		user, args, _ := strings.Cut(question, " ")
		env.Until(t, patience, question, func() error {
			out, err := env.Cluster.KubectlAs(t.Context(), user, nil, append([]string{"auth", "can-i", "-n", ns}, strings.Fields(args)...)...)
			if got := strings.TrimSpace(out); got != want {
				return fmt.Errorf("kubectl says %q, want %q (%w)", got, want, err)
			}
			return nil
		})
	}
}
