// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/api/harness"
)

const admissionRoot = "/apis/admissionregistration.k8s.io/v1/"

// bind binds a policy to one namespace.
func bind(t *testing.T, resource, kind, policy, namespace, more string) {
	t.Helper()
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: admissionRoot + resource, Body: fmt.Sprintf(
		"{apiVersion: admissionregistration.k8s.io/v1, kind: %s, metadata: {name: %s}, spec: {policyName: %s, %smatchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}}}",
		kind, policy, policy, more, namespace)})
}

// TestValidatingPolicy: a policy of the cluster on PlanExecutions decides on every path to a run, dry or not, with the caller's name.
func TestValidatingPolicy(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: admissionRoot + "validatingadmissionpolicies", Body: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-restore}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [kudo.dev], apiVersions: [v1beta1], operations: [CREATE], resources: [planexecutions]}]
  validations:
  - expression: object.spec.planName != "restore"
    messageExpression: "'not today, ' + request.userInfo.username"
`})
	bind(t, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "no-restore", ns, "validationActions: [Deny], ")
	env.Until(t, patience, "the policy to be in force", func() error {
		return wantCode(env.Send(t, paths["planexecutions"](ns, "db", "restore", "?dryRun=All")), http.StatusUnprocessableEntity)
	})
	for name, path := range paths {
		for _, query := range []string{"", "?dryRun=All"} {
			got := env.Expect(t, http.StatusUnprocessableEntity, path(ns, "db", "restore", query), "not today, admin", "no-restore")
			t.Logf("%s: %s", name, got.Text())
		}
		env.Expect(t, http.StatusCreated, path(ns, "db", "backup", "?dryRun=All"))
	}
	if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "planExecution", "planName"); got != "" {
		t.Errorf("a denied run of %s holds the lock", got)
	}
	if got := env.Names(t, harness.Path(ns, "planexecutions")); len(got) != 1 {
		t.Errorf("a denied run is stored: %q", got)
	}
}

// TestMutatingPolicy: what a policy of the cluster stamps on PlanExecutions is on those of every path.
func TestMutatingPolicy(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: admissionRoot + "mutatingadmissionpolicies", Body: `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: cost-centre}
spec:
  reinvocationPolicy: Never
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [kudo.dev], apiVersions: [v1beta1], operations: [CREATE], resources: [planexecutions]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{metadata: Object.metadata{labels: {"cost-centre": "42"}}}'
`})
	bind(t, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", "cost-centre", ns, "")
	env.Until(t, patience, "the policy to be in force", func() error {
		got := env.Send(t, paths["planexecutions"](ns, "db", "restore", "?dryRun=All"))
		return wantText(got.Object(t).GetLabels()["cost-centre"], "42")
	})
	for name, path := range paths {
		if got := env.Expect(t, http.StatusCreated, path(ns, "db", "restore", "")).Object(t).GetLabels(); got["cost-centre"] != "42" || got["kudo.dev/plan"] != "restore" {
			t.Errorf("%s: labels %v", name, got)
		}
		env.Idle(t, ns, "db")
	}
}

// TestQuota: ResourceQuota counts objects of the group, on the trigger paths too.
func TestQuota(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: "/api/v1/namespaces/" + ns + "/resourcequotas",
		Body: "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {count/instances.kudo.dev: '2', count/planexecutions.kudo.dev: '3'}}}"})
	// The quota controller looks for new groups every half minute, and at a quota when that changes.
	var touched time.Time
	env.Until(t, 2*time.Minute, "the quota to be counted", func() error {
		path := "/api/v1/namespaces/" + ns + "/resourcequotas/few"
		if time.Since(touched) > time.Second {
			touched = time.Now()
			env.Expect(t, http.StatusOK, patch(harness.MergePatch, path, fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, touched.Unix())))
		}
		return wantText(env.Send(t, get(path)).Field(t, "status", "used", "count/instances.kudo.dev"), "1")
	})
	env.Create(t, ns, "instances", harness.Instance("second"))
	env.Expect(t, http.StatusForbidden, harness.Request{Method: "POST", Path: harness.Path(ns, "instances"), Body: harness.Instance("third")}, "exceeded quota", "few")
	missing(t, ns, "instances", "third")
	env.Idle(t, ns, "second")
	env.Until(t, patience, "the runs to use up the quota", func() error {
		got := env.Send(t, paths["plans/P:trigger"](ns, "db", "restore", ""))
		if got.Code == http.StatusCreated || got.Code == http.StatusConflict {
			return fmt.Errorf("%d %s", got.Code, got.Text())
		}
		return wantCode(got, http.StatusForbidden)
	})
	env.Idle(t, ns, "db")
}

// TestTerminatingNamespace: nothing is created and nothing runs in a namespace on its way out.
func TestTerminatingNamespace(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	finalizer := harness.Path(ns, "instances", "db")
	env.Expect(t, http.StatusOK, patch(harness.MergePatch, finalizer, `{"metadata":{"finalizers":["example.com/keep"]}}`))
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: "/api/v1/namespaces/" + ns})
	env.Until(t, patience, "the server to know", func() error {
		return wantCode(env.Send(t, harness.Request{Method: "POST", Path: harness.Path(ns, "instances") + "?dryRun=All", Body: harness.Instance("late")}), http.StatusForbidden)
	})
	for _, path := range paths {
		if got := env.Send(t, path(ns, "db", "restore", "")); got.Code != http.StatusForbidden && got.Code != http.StatusConflict {
			t.Errorf("%d: %s", got.Code, got.Text())
		}
	}
	env.Expect(t, http.StatusOK, patch(harness.MergePatch, finalizer, `{"metadata":{"finalizers":null}}`))
	env.Expect(t, http.StatusNotFound, harness.Request{Method: "POST", Path: harness.Path("no-such-namespace", "operators"),
		Body: "{apiVersion: kudo.dev/v1beta1, kind: Operator, metadata: {name: x}}"}, "no-such-namespace")
}
