// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"net"
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/cluster"
)

const namespace = "default"

// environment is a cluster with KUDO, as in production: it stores durably, and the executor works.
type environment struct {
	cluster *cluster.Cluster
	// admin prepares what is measured.
	admin client
}

// client is a client with connections of its own.
type client struct {
	kube kubernetes.Interface
	kudo clientset.Interface
}

func start(b *testing.B) *environment {
	b.Helper()
	c, err := cluster.Start(b.Context(), cluster.Options{Dir: filepath.Join(b.TempDir(), "cluster"), Mode: cluster.ModeControllers, Durable: true, Log: b.Logf})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	})
	if _, err := cluster.InstallKUDO(b.Context(), c, cluster.KUDOOptions{}); err != nil {
		b.Fatal(err)
	}
	e := &environment{cluster: c}
	e.admin = e.client(b, cluster.Admin)
	return e
}

// client connects as the user.
func (e *environment) client(b *testing.B, user string) client {
	b.Helper()
	config, err := e.cluster.RESTConfig(user)
	if err != nil {
		b.Fatal(err)
	}
	return e.clientFor(b, config)
}

// clientFor makes a client that shares no connection with others.
func (e *environment) clientFor(b *testing.B, config *rest.Config) client {
	b.Helper()
	config.WarningHandler = rest.NoWarnings{}
	config.Dial = (&net.Dialer{}).DialContext // clients with a dialer of their own share no connection
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	kudo, err := clientset.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return client{kube, kudo}
}

// permit lets the user do what is measured, and no more: permissions are checked as for anybody.
func (e *environment) permit(b *testing.B, user string) {
	b.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "bench"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
		{APIGroups: []string{"kudo.dev"}, Resources: []string{"instances"}, Verbs: []string{"create"}},
		{APIGroups: []string{"kudo.dev"}, Resources: []string{"instances/plans"}, Verbs: []string{"create", "trigger"}},
		{APIGroups: []string{"kudo.dev"}, Resources: []string{"operatorversions"}, Verbs: []string{"get"}},
	}}
	binding := &rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta,
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}}
	if _, err := e.admin.kube.RbacV1().Roles(namespace).Create(b.Context(), role, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	if _, err := e.admin.kube.RbacV1().RoleBindings(namespace).Create(b.Context(), binding, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
}
