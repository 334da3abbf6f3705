// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestGrantWorksSoon: a right that is granted after a refusal works within two seconds, however often the user tried meanwhile. Not in
// parallel: it measures.
func TestGrantWorksSoon(t *testing.T) {
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create instances/plans db")
	try := map[string]harness.Request{}
	binding := map[string]string{}
	for _, plan := range []string{"backup", "restore", "update"} {
		role := newRole(t, ns, fmt.Sprintf("\n- {apiGroups: [kudo.dev], resources: [instances/plans], resourceNames: [db], verbs: [\"trigger:%s\"]}", plan))
		try[plan] = as(cluster.Alice, paths["POST plans/P:trigger"].request(t, ns, "db", plan, "?dryRun=All"))
		env.Expect(t, http.StatusForbidden, try[plan])
		binding[plan] = bind(t, ns, cluster.Alice, "Role", role)
		granted := time.Now()
		env.Until(t, patience, "the grant to work", func() error {
			if got := env.Send(t, try[plan]); got.Code != http.StatusCreated {
				return fmt.Errorf("%d: %s", got.Code, got.Text())
			}
			return nil
		})
		took := time.Since(granted)
		t.Logf("the grant of %s works after %v", plan, took)
		if took > 2*time.Second {
			t.Errorf("the grant of %s works after %v, want 2s at most", plan, took)
		}
	}
	revoke(t, ns, binding["update"], try["update"])
}

// revoke takes a right away and waits until it is gone, which is within ten seconds: so long an answer is remembered. What
// kube-apiserver takes to learn of it comes on top.
func revoke(t *testing.T, namespace, binding string, try harness.Request) {
	t.Helper()
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: rbac + namespace + "/rolebindings/" + binding})
	revoked := time.Now()
	env.Until(t, patience, "the revocation to work", func() error {
		if got := env.Send(t, try); got.Code != http.StatusForbidden {
			return fmt.Errorf("%d: %s", got.Code, got.Text())
		}
		return nil
	})
	took := time.Since(revoked)
	t.Logf("the revocation works after %v", took)
	if took > 11*time.Second {
		t.Errorf("the revocation works after %v, want 10s and a moment", took)
	}
}
