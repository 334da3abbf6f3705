// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
)

// operatorYAML describes an operator that needs others.
func operatorYAML(name, version string, children ...string) string {
	text := fmt.Sprintf("name: %s\noperatorVersion: %s\nkubernetesVersion: 1.25.0\ntasks:\n- {name: none, kind: Dummy, spec: {done: true}}\n", name, version)
	for i, child := range children {
		text += fmt.Sprintf("- {name: t%d, kind: KudoOperator, spec: {package: %q}}\n", i, child)
	}
	return text + "plans:\n  deploy: {}\n"
}

func TestInstallWithChildren(t *testing.T) {
	root := t.TempDir()
	writePackage(t, filepath.Join(root, "child"), operatorYAML("child", "0.0.1"), "")
	parent := writePackage(t, filepath.Join(root, "parent"), operatorYAML("parent", "0.1.0", "../child", "zk"), "")
	installed := func(app, version string) *v1beta1.OperatorVersion {
		return &v1beta1.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: bundle.OperatorVersionName("zk", app, version), Namespace: "default"},
			Spec: v1beta1.OperatorVersionSpec{Operator: v1beta1.ObjectReference{Name: "zk"}, AppVersion: app, Version: version}}
	}
	f := newFixture(t, installed("3.4.9", "0.3.0"), installed("3.4.14", "0.2.0"), installed("3.4.14", "0.10.0"), installed("", "9.0.0"))
	if err := f.kudo(t, "install", parent, "--instance", "p"); err != nil {
		t.Fatal(err)
	}
	want := "operator default/parent created\noperator default/child created\noperatorversion default/child-0.0.1 created\n" +
		"operatorversion default/parent-0.1.0 created\ninstance default/p created\n"
	if diff := cmp.Diff(want, f.out.String()); diff != "" {
		t.Error(diff)
	}
	version, err := f.client.KudoV1beta1().OperatorVersions("default").Get(context.Background(), "parent-0.1.0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []v1beta1.TaskSpec{{Package: "child", OperatorVersion: "0.0.1"}, {Package: "zk", AppVersion: "3.4.14", OperatorVersion: "0.10.0"}} {
		if diff := cmp.Diff(want, version.Spec.Tasks[i+1].Spec); diff != "" {
			t.Error(diff)
		}
	}

	// Once more, after somebody removed the child: what is missing is created again, though the parent is there.
	if err := f.client.KudoV1beta1().OperatorVersions("default").Delete(context.Background(), "child-0.0.1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.out.Reset()
	if err := f.kudo(t, "install", parent, "--skip-instance"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("operatorversion default/child-0.0.1 created\noperatorversion default/parent-0.1.0 already installed\n", f.out.String()); diff != "" {
		t.Error(diff)
	}

	// An upgrade brings the children of the new version along.
	writePackage(t, filepath.Join(root, "more"), operatorYAML("more", "1.0.0"), "")
	next := writePackage(t, filepath.Join(root, "next"), operatorYAML("parent", "0.2.0", "../child", "../more"), "")
	f.out.Reset()
	if err := f.kudo(t, "upgrade", next, "--instance", "p"); err != nil {
		t.Fatal(err)
	}
	want = "operatorversion default/child-0.0.1 already installed\noperator default/more created\noperatorversion default/more-1.0.0 created\n" +
		"operatorversion default/parent-0.2.0 created\ninstance default/p updated\n"
	if diff := cmp.Diff(want, f.out.String()); diff != "" {
		t.Error(diff)
	}
}

// A package whose children cannot be installed creates nothing.
func TestInstallRefusesChildren(t *testing.T) {
	root := t.TempDir()
	writePackage(t, filepath.Join(root, "circle"), operatorYAML("circle", "1.0.0", "../parent"), "")
	writePackage(t, filepath.Join(root, "new"), strings.Replace(operatorYAML("new", "1.0.0"), "1.25.0", "1.99.0", 1), "")
	for _, test := range []struct{ child, want string }{
		{"../circle", "cyclic package dependency found when adding package circle-1.0.0 -> parent-0.1.0"},
		{"unknown", `failed to resolve package Operator: "unknown"`},
		{"../new", "child operator new: expected kubernetes version of 1.99.0 is not supported"},
	} {
		parent := writePackage(t, filepath.Join(root, "parent"), operatorYAML("parent", "0.1.0", test.child), "")
		f := newFixture(t)
		if err := f.kudo(t, "install", parent); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", test.child, err)
		}
		for _, action := range f.client.Actions() {
			if action.GetVerb() == "create" {
				t.Errorf("%s: it created something: %v", test.child, action)
			}
		}
	}
}

// What a child says about Kubernetes is no reason to refuse it if nobody can read it.
func TestInstallChildrenWithoutKubernetesVersion(t *testing.T) {
	for _, version := range []string{"", "any", "1.x"} {
		root := t.TempDir()
		writePackage(t, filepath.Join(root, "child"), strings.Replace(operatorYAML("child", "0.0.1"), "1.25.0", version, 1), "")
		f := newFixture(t)
		if err := f.kudo(t, "install", writePackage(t, filepath.Join(root, "parent"), operatorYAML("parent", "0.1.0", "../child"), "")); err != nil {
			t.Errorf("%q: %v", version, err)
		}
		err := f.kudo(t, "install", filepath.Join(root, "child"))
		if err == nil || !strings.Contains(err.Error(), "unable to parse operators kubernetes version") {
			t.Errorf("%q of the package itself: %v", version, err)
		}
	}
}

// A misspelt field is told of, and the package installed: KUDO did not mind.
func TestInstallWarnsOfTypos(t *testing.T) {
	folder := writePackage(t, t.TempDir(), operatorYAML("x", "0.1.0")+"  backup: {stategy: parallel}\n", "")
	f := newFixture(t)
	if err := f.kudo(t, "install", folder); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Warning: operator.yaml:8:12: plans.backup: there is no field \"stategy\"; did you mean \"strategy\"?\n", f.err.String()); diff != "" {
		t.Error(diff)
	}
}

// So are those of children, and of theirs, when they are installed and when a new version brings them along.
func TestWarningsOfTyposInChildren(t *testing.T) {
	root := t.TempDir()
	writePackage(t, filepath.Join(root, "deep"), operatorYAML("deep", "0.0.1"), "parameters:\n- {name: a, requierd: false}\n")
	writePackage(t, filepath.Join(root, "child"), operatorYAML("child", "0.0.1", "../deep", "../deep")+"  backup: {stategy: parallel}\n", "")
	want := fmt.Sprintf("Warning: operator package %q: params.yaml:2:13: parameters[0]: there is no field \"requierd\"; did you mean \"required\"?\n"+
		"Warning: operator package %q: operator.yaml:10:12: plans.backup: there is no field \"stategy\"; did you mean \"strategy\"?\n",
		filepath.Join(root, "deep"), filepath.Join(root, "child"))
	f := newFixture(t)
	for _, version := range []string{"0.1.0", "0.2.0"} {
		writePackage(t, filepath.Join(root, version), operatorYAML("parent", version, "../child"), "")
	}
	for _, command := range [][]string{{"install", filepath.Join(root, "0.1.0")}, {"upgrade", filepath.Join(root, "0.2.0"), "--instance", "parent-instance"}} {
		f.err.Reset()
		if err := f.kudo(t, command...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, f.err.String()); diff != "" {
			t.Errorf("%s: %s", command[0], diff)
		}
	}
}

func TestInstallFromURL(t *testing.T) {
	data, err := bundle.Pack(first)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }))
	defer server.Close()
	f := newFixture(t)
	if err := f.kudo(t, "install", server.URL+"/first-operator.tgz", "--instance", "web"); err != nil || !strings.HasSuffix(f.out.String(), "instance default/web created\n") {
		t.Errorf("got %v\n%s", err, f.out.String())
	}
}
