// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/test/integration/api/harness"
)

const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/"

var roles atomic.Int64

// grantText gives a user the rules of a Role, as they are written in YAML.
func grantText(t *testing.T, namespace, user, rules string) {
	t.Helper()
	bind(t, namespace, user, "Role", newRole(t, namespace, rules))
}

func newRole(t *testing.T, namespace, rules string) string {
	t.Helper()
	name := fmt.Sprintf("role-%d", roles.Add(1))
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: rbac + namespace + "/roles",
		Body: fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: %s}\nrules:%s", name, rules)})
	return name
}

// bind gives a user a Role or ClusterRole in the namespace, and returns the name of the binding.
func bind(t *testing.T, namespace, user, kind, role string) string {
	t.Helper()
	name := fmt.Sprintf("binding-%d", roles.Add(1))
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: rbac + namespace + "/rolebindings", Body: fmt.Sprintf(
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]}",
		name, kind, role, user)})
	return name
}

// wantCan is nil once kube-apiserver says that the user may.
func wantCan(t *testing.T, user, namespace, verb, resource, name string) error {
	t.Helper()
	if env.Can(t, user, namespace, verb, resource, name) {
		return nil
	}
	return fmt.Errorf("%s may not %s %s %s yet", user, verb, resource, name)
}

func same(t *testing.T, what, before, after string) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("%s made a difference:\n%s", what, diff)
	}
}

// named is a text without the name of the Instance, which is no longer than a word.
func named(text, instance string) string {
	return strings.NewReplacer(`\"`+instance+`\"`, "X", `"`+instance+`"`, "X").Replace(text)
}
