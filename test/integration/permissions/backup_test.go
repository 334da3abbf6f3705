// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"net/http"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// mayBackUp is all of RBAC that it takes to back db up, and nothing else.
const mayBackUp = `
- apiGroups: [kudo.dev]
  resources: [instances/plans]
  resourceNames: [db]
  verbs: [get, create, "trigger:backup"]
`

// TestFourLines: with these four lines Alice may back up and may not restore, and Bob may nothing.
func TestFourLines(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	newContent(t, ns)
	grantText(t, ns, cluster.Alice, mayBackUp)
	env.Until(t, patience, "the rights to be in force", func() error {
		return wantCan(t, cluster.Alice, ns, "trigger:backup", "instances/plans", "db")
	})
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Alice, Method: "GET", Path: harness.Path(ns, "instances", "db", "plans")})
	for _, name := range []string{"POST plans/P:trigger", "POST plans"} {
		for _, query := range []string{"?dryRun=All", ""} {
			before := footprint(t, ns)
			env.Expect(t, http.StatusForbidden, as(cluster.Alice, paths[name].request(t, ns, "db", "restore", query)), `"trigger:restore"`)
			env.Expect(t, http.StatusForbidden, as(cluster.Bob, paths[name].request(t, ns, "db", "backup", query)), "cannot create resource \"instances/plans\"")
			same(t, name+query+" that is refused", before, footprint(t, ns))
			env.Expect(t, http.StatusCreated, as(cluster.Alice, paths[name].request(t, ns, "db", "backup", query)))
			if query != "" {
				same(t, name+query, before, footprint(t, ns))
				continue
			}
			env.Idle(t, ns, "db")
		}
	}
	// Without further rights kube-apiserver lets neither of them near the other paths.
	for name, p := range paths {
		if p.code == http.StatusOK || name == "POST planexecutions" || name == "apply planexecutions" {
			env.Expect(t, http.StatusForbidden, as(cluster.Alice, p.request(t, ns, "db", "backup", "")), "cannot ")
		}
	}
}

// TestEveryPath: on every path it is the plan that counts. Alice and Bob may both use the path; Alice has the four lines, Bob has not.
func TestEveryPath(t *testing.T) {
	t.Parallel()
	for name, p := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := env.Installed(t, "db")
			newContent(t, ns)
			grantText(t, ns, cluster.Alice, mayBackUp)
			env.Grant(t, ns, cluster.Alice, p.rules...)
			env.Grant(t, ns, cluster.Bob, p.rules...)
			env.Until(t, patience, "the rights to be in force", func() error {
				return wantCan(t, cluster.Alice, ns, "trigger:backup", "instances/plans", "db")
			})
			before := footprint(t, ns)
			for _, query := range []string{"?dryRun=All", ""} {
				for user, plans := range map[string][]string{cluster.Alice: {"restore"}, cluster.Bob: {"backup", "restore"}} {
					for _, plan := range plans {
						env.Expect(t, http.StatusForbidden, as(user, p.request(t, ns, "db", plan, query)), user, `"trigger:`+plan+`"`, `"trigger"`, "instances/plans")
					}
				}
			}
			env.Expect(t, p.code, as(cluster.Alice, p.request(t, ns, "db", "backup", "?dryRun=All")))
			same(t, "what was refused and what was tried", before, footprint(t, ns))
			env.Expect(t, p.code, as(cluster.Alice, p.request(t, ns, "db", "backup", "")))
			held := env.Get(t, ns, "instances", "db")
			if got := harness.Field(held, "spec", "planExecution", "planName"); got != "backup" {
				t.Fatalf("plan %q holds the Instance", got)
			}
			run := env.Get(t, ns, "planexecutions", harness.Field(held, "spec", "planExecution", "template", "name"))
			if got := harness.Field(run, "spec", "requestedBy", "username"); got != cluster.Alice {
				t.Errorf("requested by %q", got)
			}
			if got := harness.Field(run, "spec", "trigger"); got != "Manual" {
				t.Errorf("the trigger is %q", got)
			}
			env.Idle(t, ns, "db")
		})
	}
}

// TestMastersMayAll: the group system:masters needs no role, on any path and for any plan.
func TestMastersMayAll(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	for _, p := range paths {
		for _, plan := range []string{"backup", "restore"} {
			env.Expect(t, p.code, p.request(t, ns, "db", plan, "?dryRun=All"))
		}
	}
}

// TestResourceNames: a right to the plans of one Instance is none to those of another, whatever path.
func TestResourceNames(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db-1")
	env.Create(t, ns, "instances", harness.Instance("db-2"))
	env.Idle(t, ns, "db-2")
	env.Grant(t, ns, cluster.Alice, "create,trigger:backup instances/plans db-1", "create,patch planexecutions", "get,update,patch instances")
	for name, p := range paths {
		before := footprint(t, ns)
		env.Expect(t, http.StatusForbidden, as(cluster.Alice, p.request(t, ns, "db-2", "backup", "")))
		same(t, name, before, footprint(t, ns))
		env.Expect(t, p.code, as(cluster.Alice, p.request(t, ns, "db-1", "backup", "?dryRun=All")))
	}
}

// TestUnknownInstance: who may not run the plan is told the same whether or not the Instance exists.
func TestUnknownInstance(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create instances/plans", "create,patch planexecutions")
	for name, p := range paths {
		if p.code == http.StatusOK {
			continue // who may read Instances learns nothing here
		}
		for _, query := range []string{"", "?dryRun=All"} {
			there := env.Expect(t, http.StatusForbidden, as(cluster.Alice, p.request(t, ns, "db", "restore", query)))
			missing := env.Expect(t, http.StatusForbidden, as(cluster.Alice, p.request(t, ns, "gone", "restore", query)))
			same(t, name+query, named(there.Body, "db"), named(missing.Body, "gone"))
		}
	}
	plans := func(instance string) harness.Request {
		return harness.Request{User: cluster.Alice, Method: "GET", Path: harness.Path(ns, "instances", instance, "plans")}
	}
	same(t, "GET plans", named(env.Expect(t, http.StatusForbidden, plans("db")).Body, "db"), named(env.Expect(t, http.StatusForbidden, plans("gone")).Body, "gone"))
}
