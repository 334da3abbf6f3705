// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

const serverRole = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kudo-apiserver"

// TestPoliciesThatMayNotBeWatched: a server that an older role does not let watch a kind of policy starts without that plugin, says so
// in log and metrics, and writes work at once. By itself the plugin would make each write wait for ten seconds and fail.
func TestPoliciesThatMayNotBeWatched(t *testing.T) {
	_, from := env.LogSince(t, 0)
	role := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: serverRole}).Object(t)
	role.SetManagedFields(nil)
	role.SetResourceVersion("")
	less := role.DeepCopy()
	rules, _, _ := unstructured.NestedSlice(less.Object, "rules")
	for _, rule := range rules {
		resources, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
		var kept []any
		for _, resource := range resources {
			if !strings.HasPrefix(resource, "mutatingadmissionpolic") {
				kept = append(kept, resource)
			}
		}
		rule.(map[string]any)["resources"] = kept
	}
	less.Object["rules"] = rules
	putRole(t, less)
	t.Cleanup(func() {
		putRole(t, role)
		env.KillServer(t)
		env.StartServer(t)
		if strings.Contains(env.Direct(t, "/metrics"), `plugin="MutatingAdmissionPolicy"`) {
			t.Error("the plugin is still disabled after the role was mended")
		}
	})
	env.KillServer(t)
	env.StartServer(t)

	begin := time.Now()
	ns := env.Installed(t, "db")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("writes took %s", took)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "instances", "db")})
	log, _ := env.LogSince(t, from)
	for _, text := range []string{"ADMISSION PLUGIN DISABLED", "mutatingadmissionpolicies", "Forbidden"} {
		if !strings.Contains(log, text) {
			t.Errorf("the log lacks %q", text)
		}
	}
	const metric = `kudo_apiserver_admission_plugin_disabled{plugin="MutatingAdmissionPolicy",reason="Forbidden"} 1`
	if !strings.Contains(env.Direct(t, "/metrics"), metric) {
		t.Errorf("the metrics lack %s", metric)
	}
}

// putRole writes the role and waits until kube-apiserver goes by it.
func putRole(t *testing.T, role *unstructured.Unstructured) {
	t.Helper()
	body, err := role.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "PUT", Path: serverRole, Body: string(body)})
}
