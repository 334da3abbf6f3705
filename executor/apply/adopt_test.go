// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/executor/fault"
)

func TestControlledByOthers(t *testing.T) {
	namespaced := Ref{Resource: Resource{Namespaced: true}, Kind: "ConfigMap", Namespace: "ns", Name: "c"}
	for _, c := range []struct {
		name, owner string
		words       string
		final       bool
	}{
		{"nobody", "{apiVersion: v1, kind: Pod, name: p, uid: x}", "", false},
		{"ours", "{apiVersion: kudo.dev/v1beta1, kind: Instance, name: zk, uid: iuid, controller: true}", "", false},
		{"the Instance that had the name before", "{apiVersion: kudo.dev/v1beta1, kind: Instance, name: zk, uid: former, controller: true}", "garbage collector", false},
		{"another Instance", "{apiVersion: kudo.dev/v1beta1, kind: Instance, name: kafka, uid: x, controller: true}", `has the controller Instance "kafka"`, true},
		{"another controller", "{apiVersion: apps/v1, kind: Deployment, name: d, uid: x, controller: true}", `has the controller Deployment "d"`, true},
	} {
		live := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ns, ownerReferences: ["+c.owner+"]}")
		err := controlledByOthers(namespaced, live, id)
		if _, final := fault.Classify(err); final != c.final || (err != nil) != (c.words != "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPatched(t *testing.T) {
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	const marked, other = `{"f:metadata":{"f:annotations":{"f:kudo.dev/last-applied-configuration":{}}}}`, `{"f:data":{}}`
	for _, c := range []struct {
		name string
		in   []metav1.ManagedFieldsEntry
		want string
	}{
		{"by KUDO", []metav1.ManagedFieldsEntry{entry("manager", "Update", "", marked), entry("kubectl-edit", "Update", "", other), entry("other", "Update", "status", marked)}, "manager"},
		{"by us", []metav1.ManagedFieldsEntry{entry("manager", "Update", "", marked), entry("kudo", "Apply", "", marked)}, ""},
		{"by others", []metav1.ManagedFieldsEntry{entry("helm", "Update", "", other)}, ""},
	} {
		if got := strings.Join(patched(c.in).UnsortedList(), " "); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
