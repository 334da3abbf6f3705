// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestInstallManifests: the cluster takes them, and they give each party what it
// needs and no more.
func TestInstallManifests(t *testing.T) {
	c, err := Start(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "cluster"), Mode: ModeControllers, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Remove() })
	k := &KUDO{c: c, state: kudoState{ServerPort: 20443}}
	for range 2 { // applying them again changes nothing
		if err := k.applyManifests(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for what, want := range map[string]string{
		"{.spec.service.port}":          "20443",
		"{.spec.insecureSkipTLSVerify}": "",
		"{.metadata.labels.kube-aggregator\\.kubernetes\\.io/automanaged}": "false",
	} {
		got, err := c.Kubectl("get", "apiservice", kudoAPIService, "-o", "jsonpath="+what)
		if err != nil || got != want {
			t.Errorf("APIService %s is %q, want %q (%v)", what, got, want, err)
		}
	}
	for user, role := range map[string]string{"v": "view", "e": "edit", "a": "admin", "r": "kudo-plan-runner"} {
		if _, err := c.Kubectl("create", "rolebinding", role, "--clusterrole", role, "--user", user); err != nil {
			t.Fatal(err)
		}
	}
	config, err := c.RESTConfig(Admin)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	account := func(name string) string { return "system:serviceaccount:kudo-system:" + name }
	for _, tc := range []struct {
		user, verb, resource string // resource.group/subresource:name
		want                 bool
	}{
		{"v", "watch", "instances.kudo.dev", true},
		{"v", "get", "instances.kudo.dev/plans:x", true},
		{"v", "get", "planexecutions.kudo.dev/log:x", true},
		{"v", "get", "planexecutions.kudo.dev/status:x", true},
		{"v", "create", "instances.kudo.dev", false},
		{"e", "get", "instances.kudo.dev", true},
		{"e", "create", "instances.kudo.dev", true},
		{"e", "patch", "planexecutions.kudo.dev", true},
		{"e", "create", "planexecutions.kudo.dev", false},
		{"e", "delete", "planexecutions.kudo.dev:x", false},
		{"e", "deletecollection", "planexecutions.kudo.dev", false},
		{"e", "create", "planexecutions.kudo.dev/cancel:x", false},
		{"e", "create", "instances.kudo.dev/plans:x", false},
		{"e", "trigger", "instances.kudo.dev/plans:x", false},
		{"e", "update", "instances.kudo.dev/status:x", false},
		{"a", "create", "instances.kudo.dev", true},
		{"a", "create", "instances.kudo.dev/plans:x", true},
		{"a", "trigger", "instances.kudo.dev/plans:x", true},
		{"a", "create", "planexecutions.kudo.dev", true},
		{"a", "deletecollection", "planexecutions.kudo.dev", true},
		{"a", "create", "planexecutions.kudo.dev/cancel:x", true},
		{"a", "update", "planexecutions.kudo.dev/status:x", false},
		{"r", "trigger", "instances.kudo.dev/plans:x", true},
		{"r", "create", "planexecutions.kudo.dev", true},
		{"r", "get", "planexecutions.kudo.dev/log:x", true},
		{"r", "delete", "planexecutions.kudo.dev:x", false},
		{"r", "create", "planexecutions.kudo.dev/cancel:x", false},
		{account(kudoServer), "watch", "mutatingadmissionpolicybindings.admissionregistration.k8s.io", true},
		{account(kudoServer), "patch", "flowschemas.flowcontrol.apiserver.k8s.io/status:x", true},
		{account(kudoServer), "create", "subjectaccessreviews.authorization.k8s.io", true},
		{account(kudoServer), "patch", "apiservices.apiregistration.k8s.io:v1beta1.kudo.dev", true},
		{account(kudoServer), "patch", "apiservices.apiregistration.k8s.io:v1.apps", false},
		{account(kudoServer), "list", "secrets", false},
		{account(kudoExecutor), "update", "planexecutions.kudo.dev/status:x", true},
		{account(kudoExecutor), "create", "roles.rbac.authorization.k8s.io", true},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := poll(ctx, 20*time.Millisecond, settled(client, tc.user, tc.verb, tc.resource, tc.want)); err != nil {
			t.Error(err)
		}
	}
}

// settled is nil once the answer is the wanted one. A right to be granted may take
// a moment, because a controller puts the cluster's own roles together; one that is
// not to be granted is looked at after those of the same role that are.
func settled(client kubernetes.Interface, user, verb, resource string, want bool) func(context.Context) error {
	attributes := &authorizationv1.ResourceAttributes{Namespace: "default", Verb: verb}
	resource, attributes.Name, _ = strings.Cut(resource, ":")
	resource, attributes.Subresource, _ = strings.Cut(resource, "/")
	attributes.Resource, attributes.Group, _ = strings.Cut(resource, ".")
	return func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: attributes}}
		got, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil && got.Status.Allowed != want {
			err = fmt.Errorf("%s may %s %s: %v, want %v", user, verb, resource, got.Status.Allowed, want)
		}
		return err
	}
}
