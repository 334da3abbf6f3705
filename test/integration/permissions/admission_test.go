// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

const admission = "/apis/admissionregistration.k8s.io/v1/"

// TestAdmissionDoesNotSwapPlans: the permission counts for the plan that runs in the end, also where a policy puts another one into the
// run after it was asked for.
func TestAdmissionDoesNotSwapPlans(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	newContent(t, ns)
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: admission + "mutatingadmissionpolicies", Body: `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: swap}
spec:
  reinvocationPolicy: Never
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [kudo.dev], apiVersions: [v1beta1], operations: [CREATE], resources: [planexecutions]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{spec: Object.spec{planName: "restore"}}'
`})
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: admission + "mutatingadmissionpolicybindings", Body: fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: swap}
spec:
  policyName: swap
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}
`, ns)})
	env.Until(t, patience, "the policy to be in force", func() error {
		if got := env.Expect(t, http.StatusCreated, paths["POST plans"].request(t, ns, "db", "backup", "?dryRun=All")); got.Field(t, "spec", "planName") != "restore" {
			return errors.New(got.Text())
		}
		return nil
	})
	env.Grant(t, ns, cluster.Alice, "create,trigger:backup instances/plans db", "create,patch planexecutions", "get,update,patch instances")
	before := footprint(t, ns)
	for _, p := range paths {
		for _, query := range []string{"?dryRun=All", ""} {
			env.Expect(t, http.StatusForbidden, as(cluster.Alice, p.request(t, ns, "db", "backup", query)), "restore")
		}
	}
	same(t, "what a policy made of the requests", before, footprint(t, ns))
}
