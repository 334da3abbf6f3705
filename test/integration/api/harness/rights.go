// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package harness

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var roles atomic.Int64

// Grant gives a user rights in a namespace: each rule is "verbs resources names", with commas between several and no names for
// all. It returns when they are in force at kube-apiserver.
func (e *Env) Grant(tb testing.TB, namespace, user string, rules ...string) {
	tb.Helper()
	var list []string
	for _, rule := range rules {
		part := strings.Fields(rule + " ")
		text := fmt.Sprintf("{apiGroups: [kudo.dev], verbs: [%s], resources: [%s]", quoted(part[0]), quoted(part[1]))
		if len(part) > 2 {
			text += fmt.Sprintf(", resourceNames: [%s]", quoted(part[2]))
		}
		list = append(list, text+"}")
	}
	name := fmt.Sprintf("%s-%d", user, roles.Add(1))
	root := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace
	e.Expect(tb, http.StatusCreated, Request{Method: "POST", Path: root + "/roles", Body: fmt.Sprintf(
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s}, rules: [%s]}", name, strings.Join(list, ", "))})
	e.Expect(tb, http.StatusCreated, Request{Method: "POST", Path: root + "/rolebindings", Body: fmt.Sprintf(
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %s}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]}", name, name, user)})
	for _, rule := range rules {
		part := strings.Fields(rule)
		name := ""
		if len(part) > 2 {
			name = strings.Split(part[2], ",")[0]
		}
		for verb := range strings.SplitSeq(part[0], ",") {
			e.Until(tb, 20*time.Second, user+" to be allowed "+rule, func() error {
				if !e.Can(tb, user, namespace, verb, strings.Split(part[1], ",")[0], name) {
					return fmt.Errorf("may not %s yet", verb)
				}
				return nil
			})
		}
	}
}

// Can asks kube-apiserver what a user may do. A resource may have a subresource.
func (e *Env) Can(tb testing.TB, user, namespace, verb, resource, name string) bool {
	tb.Helper()
	resource, subresource, _ := strings.Cut(resource, "/")
	return e.Expect(tb, http.StatusCreated, Request{User: user, Method: "POST", Path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		Body: fmt.Sprintf("{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {namespace: %s, verb: %q, group: kudo.dev, resource: %s, subresource: %q, name: %q}}}",
			namespace, verb, resource, subresource, name)}).Field(tb, "status", "allowed") == "true"
}

func quoted(list string) string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = fmt.Sprintf("%q", parts[i])
	}
	return strings.Join(parts, ", ")
}
