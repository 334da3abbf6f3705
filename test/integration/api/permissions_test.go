// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"net/http"
	"strings"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestPermissions: every path asks for the verb of the plan, dry runs too; what a role grants is exactly what works.
func TestPermissions(t *testing.T) {
	t.Parallel()
	const all = "plans/P:trigger,plans,planexecutions"
	for name, tc := range map[string]struct {
		rules []string
		// plan and paths that are allowed; all others are refused.
		plans, paths string
	}{
		"nothing":                           {nil, "", ""},
		"create only":                       {[]string{"create instances/plans db"}, "", ""},
		"one plan":                          {[]string{"create,trigger:backup instances/plans db"}, "backup", "plans/P:trigger,plans"},
		"every plan":                        {[]string{"create,trigger instances/plans db"}, "backup,restore", "plans/P:trigger,plans"},
		"every Instance":                    {[]string{"create,trigger instances/plans"}, "backup,restore", "plans/P:trigger,plans"},
		"another Instance":                  {[]string{"create,trigger instances/plans other"}, "", ""},
		"trigger without create":            {[]string{"trigger instances/plans db"}, "", ""},
		"create planexecutions only":        {[]string{"create planexecutions"}, "", ""},
		"create planexecutions of one plan": {[]string{"create planexecutions", "trigger:backup instances/plans db"}, "backup", "planexecutions"},
		"everything":                        {[]string{"create planexecutions", "create,trigger instances/plans db"}, "backup,restore", all},
		"edit Instances":                    {[]string{"get,update,patch,create instances"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := env.Installed(t, "db")
			if tc.rules != nil {
				env.Grant(t, ns, cluster.Alice, tc.rules...)
			}
			for path, request := range paths {
				for _, plan := range []string{"backup", "restore"} {
					for _, query := range []string{"?dryRun=All", ""} {
						alice, bob := request(ns, "db", plan, query), request(ns, "db", plan, query)
						alice.User, bob.User = cluster.Alice, cluster.Bob
						env.Expect(t, http.StatusForbidden, bob)
						if !contains(tc.plans, plan) || !contains(tc.paths, path) {
							env.Expect(t, http.StatusForbidden, alice, "alice")
							continue
						}
						run := env.Expect(t, http.StatusCreated, alice)
						if got := run.Field(t, "spec", "requestedBy", "username"); got != cluster.Alice {
							t.Errorf("requested by %q", got)
						}
						if query == "" {
							env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run.Object(t).GetName())})
							env.Idle(t, ns, "db")
						}
					}
				}
			}
		})
	}
}

func contains(list, item string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if part == item {
			return true
		}
	}
	return false
}

// TestRefusalNamesTheVerb: a refusal says which right is missing, and the same whether the Instance exists or not.
func TestRefusalNamesTheVerb(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create instances/plans", "create planexecutions", "trigger:backup instances/plans db")
	for name, request := range paths {
		var texts []string
		for _, instance := range []string{"db", "none"} {
			r := request(ns, instance, "restore", "")
			r.User = cluster.Alice
			got := env.Expect(t, http.StatusForbidden, r, "trigger:restore", "\"trigger\"", "instances/plans", ns)
			texts = append(texts, strings.ReplaceAll(got.Text(), instance, "X"))
		}
		if texts[0] != texts[1] {
			t.Errorf("%s tells whether the Instance exists:\n%s\n%s", name, texts[0], texts[1])
		}
	}
	env.Expect(t, http.StatusForbidden, harness.Request{User: cluster.Alice, Method: "GET", Path: harness.Path(ns, "instances", "db", "plans")})
}

// TestInstanceLockNeedsTheVerb: starting a plan by writing spec.planExecution, as KUDO's command line did, asks for the same right.
func TestInstanceLockNeedsTheVerb(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "get,patch instances")
	patch := harness.Request{User: cluster.Alice, Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "instances", "db"),
		Body: `{"spec":{"planExecution":{"planName":"backup"}}}`}
	env.Expect(t, http.StatusForbidden, patch, "trigger:backup")
	env.Grant(t, ns, cluster.Alice, "trigger:backup instances/plans db")
	env.Until(t, patience, "the new right to count", func() error { return wantCode(env.Send(t, patch), http.StatusOK) })
	if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "planExecution", "template", "spec", "requestedBy", "username"); got != cluster.Alice {
		t.Errorf("requested by %q", got)
	}
}

// TestAuthCanI: kubectl answers questions about the rights to run plans.
func TestAuthCanI(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create,trigger:backup instances/plans db")
	for question, want := range map[string]string{
		"create instances.kudo.dev/db --subresource=plans":          "yes",
		"trigger:backup instances.kudo.dev/db --subresource=plans":  "yes",
		"trigger:restore instances.kudo.dev/db --subresource=plans": "no",
		"create planexecutions.kudo.dev":                            "no",
	} {
		out, err := env.Cluster.KubectlAs(t.Context(), cluster.Alice, nil, append([]string{"auth", "can-i", "-n", ns}, strings.Fields(question)...)...)
		if got := strings.TrimSpace(out); got != want {
			t.Errorf("can-i %s: %q, want %q (%v)", question, got, want, err)
		}
	}
}
