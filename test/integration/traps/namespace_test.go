// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestNamespaceGoes: the namespace controller asks every group, in protobuf, to delete what a namespace holds. If one group
// answers what it cannot read, no namespace of the cluster ever goes, not even an empty one.
func TestNamespaceGoes(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*testing.T) string{
		"empty":      func(t *testing.T) string { return env.Namespace(t) },
		"idle":       func(t *testing.T) string { return env.Installed(t, "db") },
		"with a run": func(t *testing.T) string { ns := env.Installed(t, "db"); hold(t, ns, "db"); return ns },
		"with fifty runs": func(t *testing.T) string {
			ns := env.Installed(t, "db")
			for n := range 50 {
				env.Create(t, ns, "planexecutions", harness.Execution(fmt.Sprintf("run-%d", n), "db", "restore"))
				env.Idle(t, ns, "db")
			}
			return ns
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := fill(t)
			begin := time.Now()
			path := "/api/v1/namespaces/" + ns
			env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: path})
			env.Until(t, patience, "the namespace to go", func() error {
				if got := env.Send(t, harness.Request{Method: "GET", Path: path}); got.Code != http.StatusNotFound {
					return fmt.Errorf("it is still there: %s", got.Text())
				}
				return nil
			})
			t.Logf("gone after %s", time.Since(begin).Round(100*time.Millisecond))
			for _, resource := range []string{"instances", "operatorversions", "planexecutions", "operatorversionrevisions"} {
				if left := env.Names(t, harness.Path(ns, resource)); len(left) > 0 {
					t.Errorf("%s are left: %q", resource, left)
				}
			}
		})
	}
}

// hold starts a run of backup, whose second step waits until the run is deleted, and returns its name when it has begun.
func hold(t *testing.T, namespace, instance string) string {
	t.Helper()
	run := env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(namespace, "instances", instance, "plans", "backup:trigger")}).Object(t).GetName()
	now := time.Now().UTC().Format(time.RFC3339)
	env.Report(t, namespace, run, fmt.Sprintf(`{"status":"IN_PROGRESS","startTime":%[1]q,"phases":[{"name":"main","status":"IN_PROGRESS","startTime":%[1]q,"steps":[
		{"name":"first","status":"COMPLETE","startTime":%[1]q,"completionTime":%[1]q},
		{"name":"hold","status":"IN_PROGRESS","startTime":%[1]q,"message":"waits for a deletion"}]}]}`, now))
	return run
}
