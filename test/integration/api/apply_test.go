// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestApplyCreates: server-side apply creates an object, repeats without a change, and meets a conflict where another manager owns
// the field.
func TestApplyCreates(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		path := harness.Path(ns, k.resource, "a")
		labelled := func(value string) string {
			return strings.Replace(k.body("a"), "metadata: {name: a", "metadata: {name: a, labels: {team: "+value+"}", 1)
		}
		created := env.Expect(t, http.StatusCreated, patch(harness.Apply, path+"?fieldManager=one", labelled("red"))).Object(t)
		if created.GetUID() == "" || created.GetLabels()["team"] != "red" {
			t.Errorf("created: %v", created)
		}
		if k.kind == "Instance" {
			env.Idle(t, ns, "a")
		}
		before := env.Get(t, ns, k.resource, "a")
		again := env.Expect(t, http.StatusOK, patch(harness.Apply, path+"?fieldManager=one", labelled("red"))).Object(t)
		if again.GetUID() != created.GetUID() || again.GetGeneration() != before.GetGeneration() {
			t.Errorf("applied again: generation %d after %d", again.GetGeneration(), before.GetGeneration())
		}
		env.Expect(t, http.StatusConflict, patch(harness.Apply, path+"?fieldManager=two", labelled("blue")), "conflict", "one", "labels")
		forced := env.Expect(t, http.StatusOK, patch(harness.Apply, path+"?fieldManager=two&force=true", labelled("blue"))).Object(t)
		if forced.GetLabels()["team"] != "blue" {
			t.Errorf("forced: %v", forced.GetLabels())
		}
		managers := map[string]bool{}
		for _, f := range forced.GetManagedFields() {
			managers[f.Manager] = true
		}
		if !managers["one"] || !managers["two"] || managers["before-first-apply"] {
			t.Errorf("managers: %v", managers)
		}
	})
}

// TestApplyMerges: two managers each own a parameter of one Instance, and one takes its own away.
func TestApplyMerges(t *testing.T) {
	t.Parallel()
	ns := env.Namespace(t)
	env.Create(t, ns, "operatorversions", harness.Version)
	path := harness.Path(ns, "instances", "db")
	set := func(manager, parameters string) harness.Request {
		return patch(harness.Apply, path+"?fieldManager="+manager, fmt.Sprintf(
			"{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: db}, spec: {operatorVersion: {name: demo-1.0.0}, parameters: {%s}}}", parameters))
	}
	env.Expect(t, http.StatusCreated, set("one", "SIZE: '7'"))
	env.Idle(t, ns, "db")
	env.Expect(t, http.StatusOK, set("two", "COUNT: '8'"))
	env.Idle(t, ns, "db")
	i := env.Get(t, ns, "instances", "db")
	if got := harness.Field(i, "spec", "parameters"); got != "map[COUNT:8 FIXED:once SIZE:7]" {
		t.Errorf("parameters: %s", got)
	}
	env.Expect(t, http.StatusConflict, set("two", "COUNT: '8', SIZE: '9'"), "SIZE")
	env.Expect(t, http.StatusOK, set("one", ""))
	env.Idle(t, ns, "db")
	if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "parameters", "SIZE"); got != "" {
		t.Errorf("SIZE is still %s", got)
	}
}

// TestApplyStatus: two reporters own a condition each; applying the status never creates an object.
func TestApplyStatus(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	status := func(name, manager, condition string) harness.Request {
		return patch(harness.Apply, harness.Path(ns, "instances", name, "status")+"?fieldManager="+manager, fmt.Sprintf(
			"{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: %s}, status: {conditions: [{type: %s, status: 'True', reason: Test, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}}", name, condition))
	}
	env.Expect(t, http.StatusOK, status("db", "one", "First"))
	env.Expect(t, http.StatusOK, status("db", "two", "Second"))
	got := harness.Field(env.Get(t, ns, "instances", "db"), "status", "conditions")
	for _, condition := range []string{"First", "Second", "Ready"} {
		if !strings.Contains(got, condition) {
			t.Errorf("condition %s is lost: %s", condition, got)
		}
	}
	env.Expect(t, http.StatusNotFound, status("none", "one", "First"))
	missing(t, ns, "instances", "none")
}

// TestServerOwnedFields: what only the server writes is ignored from anybody else, wherever it is sent.
func TestServerOwnedFields(t *testing.T) {
	t.Parallel()
	ns := env.Namespace(t)
	env.Create(t, ns, "operatorversions", harness.Version)
	created := env.Create(t, ns, "instances", `
apiVersion: kudo.dev/v1beta1
kind: Instance
metadata: {name: db}
spec:
  operatorVersion: {name: demo-1.0.0}
  planExecution: {planName: backup, uid: forged, status: COMPLETE, template: {name: forged}}
status: {planStatus: {backup: {status: COMPLETE}}}
`)
	if got := created.Field(t, "spec", "planExecution", "planName"); got != "deploy" {
		t.Errorf("the lock is held by %s", got)
	}
	if got := created.Field(t, "status", "planStatus", "backup"); got != "" {
		t.Errorf("a status was forged: %s", got)
	}
	env.Idle(t, ns, "db")
	path := harness.Path(ns, "instances", "db")
	before := env.Get(t, ns, "instances", "db")
	env.Expect(t, http.StatusOK, patch(harness.MergePatch, path, `{"status":{"planStatus":{"deploy":{"status":"FATAL_ERROR"}}},"spec":{"planExecution":{"uid":"forged","status":"IN_PROGRESS","template":{"name":"forged"}}}}`))
	after := env.Get(t, ns, "instances", "db")
	if after.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("the Instance changed: %v", after)
	}
	env.Expect(t, http.StatusOK, patch(harness.MergePatch, path+"/status", `{"metadata":{"labels":{"via":"status"}},"spec":{"parameters":{"SIZE":"9"}},"status":{"conditions":[]}}`))
	after = env.Get(t, ns, "instances", "db")
	if after.GetLabels()["via"] != "" || harness.Field(after, "spec", "parameters", "SIZE") != "" || after.GetGeneration() != before.GetGeneration() {
		t.Errorf("the status subresource changed more than the status: %v", after)
	}
}

// TestForgedRun: requester, reason and origin of a run are the server's words.
func TestForgedRun(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Create(t, ns, "planexecutions", `
apiVersion: kudo.dev/v1beta1
kind: PlanExecution
metadata: {name: forged, ownerReferences: [{apiVersion: v1, kind: Secret, name: x, uid: x}]}
spec:
  instanceName: db
  planName: backup
  requestedBy: {username: somebody-else, groups: [system:masters]}
  trigger: Schedule
  revisionName: forged
  operatorVersion: {name: forged}
  instanceParameters: {SIZE: forged}
status: {status: COMPLETE}
`)
	for want, path := range map[string][]string{
		"admin": {"spec", "requestedBy", "username"}, "Manual": {"spec", "trigger"}, "PENDING": {"status", "status"},
		"demo-1.0.0": {"spec", "operatorVersion", "name"}, "map[FIXED:once]": {"spec", "instanceParameters"},
	} {
		if got := run.Field(t, path...); got != want {
			t.Errorf("%s is %q, want %q", strings.Join(path, "."), got, want)
		}
	}
	if owners := run.Object(t).GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "Instance" {
		t.Errorf("owners: %v", owners)
	}
	path := harness.Path(ns, "planexecutions", "forged")
	env.Expect(t, http.StatusOK, patch(harness.MergePatch, path, `{"spec":{"requestedBy":{"username":"somebody-else"},"trigger":"Schedule"}}`))
	if got := harness.Field(env.Get(t, ns, "planexecutions", "forged"), "spec", "requestedBy", "username"); got != "admin" {
		t.Errorf("requested by %s", got)
	}
	for field, body := range map[string]string{
		"spec.planName": `{"spec":{"planName":"restore"}}`, "spec.instanceName": `{"spec":{"instanceName":"other"}}`, "spec.parameters": `{"spec":{"parameters":{"SIZE":"2"}}}`,
	} {
		env.Expect(t, http.StatusUnprocessableEntity, patch(harness.MergePatch, path, body), field, "create another PlanExecution")
	}
}
