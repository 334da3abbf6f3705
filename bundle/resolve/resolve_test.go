// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package resolve_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/bundle/resolve"
)

// tree makes a folder of operators. Each has a name and names of packages that it needs.
func tree(t *testing.T, operators map[string][]string) string {
	t.Helper()
	root := t.TempDir()
	for path, children := range operators {
		folder := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("name: %s\noperatorVersion: 1.0.0\ntasks:\n- {name: dummy, kind: Dummy}\n", filepath.Base(folder))
		for i, child := range children {
			text += fmt.Sprintf("- {name: t%d, kind: KudoOperator, spec: {package: %q}}\n", i, child)
		}
		for name, text := range map[string]string{"operator.yaml": text, "params.yaml": ""} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// cluster is what is installed: the newest version of each operator.
type cluster map[string]*v1beta1.OperatorVersion

// Find returns the version of an operator.
func (c cluster) Find(_ context.Context, operator, appVersion, operatorVersion string) (*v1beta1.OperatorVersion, error) {
	v := c[operator]
	if v == nil || appVersion != "" && appVersion != v.Spec.AppVersion || operatorVersion != "" && operatorVersion != v.Spec.Version {
		return nil, nil
	}
	return v, nil
}

// version is an installed operator that needs others.
func version(operator, appVersion, operatorVersion string, children ...string) *v1beta1.OperatorVersion {
	v := &v1beta1.OperatorVersion{Spec: v1beta1.OperatorVersionSpec{Operator: v1beta1.ObjectReference{Name: operator}, Version: operatorVersion, AppVersion: appVersion}}
	v.Name = bundle.OperatorVersionName(operator, appVersion, operatorVersion)
	for _, child := range children {
		v.Spec.Tasks = append(v.Spec.Tasks, v1beta1.Task{Name: child, Kind: v1beta1.KudoOperatorTaskKind, Spec: v1beta1.TaskSpec{Package: child}})
	}
	return v
}

// found names the children and the tasks that a resolution gives.
func found(tasks []v1beta1.Task, children []resolve.Child) (names []string) {
	for _, child := range children {
		kind := "new"
		if child.Operator == nil {
			kind = "installed"
		}
		names = append(names, kind+" "+child.Version.Name)
	}
	for _, task := range tasks {
		if task.Kind == v1beta1.KudoOperatorTaskKind {
			names = append(names, fmt.Sprintf("task %s/%s/%s", task.Spec.Package, task.Spec.AppVersion, task.Spec.OperatorVersion))
		}
	}
	return names
}

func TestResolve(t *testing.T) {
	installed := cluster{"zk": version("zk", "3.4", "0.3.0", "base"), "base": version("base", "", "1.0.0")}
	root := tree(t, map[string][]string{
		"parent": {"../a", "./sub/b", "zk"}, "a": {"../c"}, "parent/sub/b": {"../../../c", "zk"}, "c": nil,
	})
	p, err := bundle.Read(filepath.Join(root, "parent"))
	if err != nil {
		t.Fatal(err)
	}
	tasks, children, err := resolve.Resolver{Namespace: "ns", Installed: installed}.Resolve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"new c-1.0.0", "new a-1.0.0", "installed base-1.0.0", "installed zk-3.4-0.3.0", "new b-1.0.0", "task a//1.0.0", "task b//1.0.0", "task zk/3.4/0.3.0"}
	if diff := cmp.Diff(want, found(tasks, children)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"task c//1.0.0"}, found(children[1].Version.Spec.Tasks, nil)); diff != "" || children[1].Version.Namespace != "ns" {
		t.Errorf("the tasks of a child: %s", diff)
	}
	if p.Operator.Tasks[1].Spec.Package != "../a" {
		t.Error("the package itself was changed")
	}
}

func TestResolveInArchives(t *testing.T) {
	root := tree(t, map[string][]string{"parent": {"./child"}, "parent/child": {"../deep"}, "parent/deep": nil, "bad": {"../child"}, "absolute": {"/etc"}})
	data := map[string][]byte{}
	for _, name := range []string{"parent", "bad", "absolute"} {
		packed, err := bundle.Pack(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		data["/"+name+".tgz"] = packed
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(data[r.URL.Path]) }))
	defer server.Close()
	byURL := tree(t, map[string][]string{"top": {server.URL + "/parent.tgz"}})
	p, err := bundle.Read(filepath.Join(byURL, "top"))
	if err != nil {
		t.Fatal(err)
	}
	tasks, children, err := resolve.Resolver{}.Resolve(context.Background(), p)
	if diff := cmp.Diff([]string{"new deep-1.0.0", "new child-1.0.0", "new parent-1.0.0", "task parent//1.0.0"}, found(tasks, children)); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if tasks, children, err = (resolve.Resolver{Offline: true}).Resolve(context.Background(), p); err != nil || len(children) != 0 || tasks[1].Spec.Package != server.URL+"/parent.tgz" {
		t.Errorf("without the network: %v, %v, %v", tasks, children, err)
	}
	for _, name := range []string{"bad", "absolute"} {
		p, err := bundle.ReadArchive(name+".tgz", bytes.NewReader(data["/"+name+".tgz"]))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := (resolve.Resolver{}).Resolve(context.Background(), p); err == nil || !strings.Contains(err.Error(), "leads out of the archive "+name+".tgz") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// In an archive, too, a path may lead back to the package at its root.
func TestCirclesInArchives(t *testing.T) {
	for name, operators := range map[string]map[string][]string{
		"parent-1.0.0 -> parent-1.0.0":                {"parent": {"."}},
		"parent-1.0.0 -> child-1.0.0 -> parent-1.0.0": {"parent": {"./child"}, "parent/child": {".."}},
	} {
		data, err := bundle.Pack(filepath.Join(tree(t, operators), "parent"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := bundle.ReadArchive("parent.tgz", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := (resolve.Resolver{}).Resolve(context.Background(), p); err == nil || !strings.Contains(err.Error(), "cyclic package dependency") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	circle := cluster{"a": version("a", "", "2.0.0", "b"), "b": version("b", "", "1.0.0", "a"), "back": version("back", "", "1.0.0", "parent")}
	many := map[string][]string{"parent": nil}
	for i := range 101 {
		many["parent"] = append(many["parent"], fmt.Sprintf("../c%d", i))
		many[fmt.Sprintf("c%d", i)] = nil
	}
	deep := map[string][]string{"parent": {"../c0"}, "c30": nil}
	for i := range 30 {
		deep[fmt.Sprintf("c%d", i)] = []string{fmt.Sprintf("../c%d", i+1)}
	}
	for _, test := range []struct {
		name      string
		operators map[string][]string
		installed resolve.Installed
		want      []string
	}{
		{"itself", map[string][]string{"parent": {"."}}, nil, []string{`operator.yaml:5: tasks[1] "t0": spec.package ".": operator package`, `cyclic package dependency found when adding package parent-1.0.0 -> parent-1.0.0: parent-1.0.0 -> parent-1.0.0`}},
		{"circle", map[string][]string{"parent": {"../a"}, "a": {"../b"}, "b": {"../a"}}, nil, []string{"cyclic package dependency found when adding package b-1.0.0 -> a-1.0.0: a-1.0.0 -> b-1.0.0 -> a-1.0.0", `tasks[1] "t0"`}},
		{"circle by name", map[string][]string{"parent": {"../a"}, "a": {"parent"}}, cluster{}, []string{"parent-1.0.0 -> a-1.0.0 -> parent-1.0.0"}},
		{"circle in the cluster", map[string][]string{"parent": {"a"}}, circle, []string{"a-2.0.0 -> b-1.0.0 -> a-2.0.0"}},
		{"circle through the cluster", map[string][]string{"parent": {"back"}}, circle, []string{"parent-1.0.0 -> back-1.0.0 -> parent-1.0.0"}},
		{"not installed", map[string][]string{"parent": {"zk"}}, cluster{}, []string{`failed to resolve package Operator: "zk", OperatorVersion: "any", AppVersion "any"`, "operator.yaml:5:", "install it first with --skip-instance"}},
		{"no such folder", map[string][]string{"parent": {"./x"}}, nil, []string{"operator.yaml:5:", `there is no operator package at`}},
		{"no package", map[string][]string{"parent": {"../"}}, nil, []string{"operator.yaml:5:", "the file operator.yaml is missing"}},
		{"too many", many, nil, []string{"needs more than 100 others"}},
		{"too deep", deep, nil, []string{"nested deeper than 20"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := bundle.Read(filepath.Join(tree(t, test.operators), "parent"))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = resolve.Resolver{Installed: test.installed}.Resolve(context.Background(), p)
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
}

// What children take together is limited, though each is small enough by itself.
func TestResolveLimits(t *testing.T) {
	children := func(n int, file, text string) string {
		root := tree(t, map[string][]string{"parent": nil})
		var tasks strings.Builder
		for i := range n {
			fmt.Fprintf(&tasks, "- {name: t%d, kind: KudoOperator, spec: {package: ./c%d}}\n", i, i)
			for name, text := range map[string]string{"operator.yaml": fmt.Sprintf("name: c%d\noperatorVersion: 1.0.0\n", i), "params.yaml": "", file: text} {
				put(t, filepath.Join(root, "parent", fmt.Sprintf("c%d", i), name), text)
			}
		}
		put(t, filepath.Join(root, "parent", "operator.yaml"), "name: parent\noperatorVersion: 1.0.0\ntasks:\n"+tasks.String())
		return filepath.Join(root, "parent")
	}
	again := tree(t, map[string][]string{"parent": slices.Repeat([]string{"./c"}, 1001), "parent/c": nil})
	values := func(n int) string { return "x: [" + strings.Repeat("1,", n) + "]\n" }
	text := strings.Repeat("# 345678\n", 1<<20/9)
	for _, test := range []struct{ name, folder, want string }{
		{"values", children(3, "params.yaml", values(30_000)), ""},
		{"too many values", children(4, "params.yaml", values(30_000)), `operator.yaml:7: tasks[3] "t3": spec.package "./c3": operator package`},
		{"bytes", children(15, "templates/a.yaml", text), ""},
		{"too many bytes", children(17, "templates/a.yaml", text), "more than 16 MiB together"},
		{"read too often", filepath.Join(again, "parent"), "more than 1000 packages are read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := bundle.Read(test.folder)
			if err != nil {
				t.Fatal(err)
			}
			packages := []*bundle.Package{p}
			// What is too long together cannot be packed either.
			data, err := bundle.Pack(test.folder)
			if err == nil {
				if p, err = bundle.ReadArchive("x.tgz", bytes.NewReader(data)); err != nil {
					t.Fatal(err)
				}
				packages = append(packages, p)
			} else if !strings.Contains(err.Error(), "more than 16 MiB together") {
				t.Fatal(err)
			}
			for _, p := range packages {
				_, found, err := resolve.Resolver{}.Resolve(context.Background(), p)
				if test.want == "" && (err != nil || len(found) == 0) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("got %d children, %v; want %s", len(found), err, test.want)
				}
			}
		})
	}
}

// put writes a file.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
