// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writePackage makes a package of operator.yaml and params.yaml in a folder.
func writePackage(t *testing.T, folder, operator, params string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"operator.yaml": operator, "params.yaml": params} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const faulty = `name: x
operatorVersion: one
kubernetesVersion: 1.25.0
plans:
  deploy: {}
`

func TestPackageVerify(t *testing.T) {
	f := newFixture(t)
	if err := f.kudo(t, "package", "verify", keyvalue); err != nil || f.out.String() != "package is valid\n" {
		t.Errorf("got %v\n%s", err, f.out.String())
	}
	folder := writePackage(t, t.TempDir(), faulty, "parameters:\n- name: Cpus\n- name: a,b\n  trigger: nothing\n")
	f.out.Reset()
	err := f.kudo(t, "package", "verify", folder)
	if err == nil || err.Error() != "found 3 package verification errors" {
		t.Errorf("got %v", err)
	}
	want := `Warnings
params.yaml:2: parameter "Cpus" defined but not used.
Errors
params.yaml:3: parameter "a,b" contains invalid character ','
operator.yaml:2: "operatorVersion" is required and must be semver
`
	if !strings.HasPrefix(f.out.String(), want) || !strings.Contains(f.out.String(), `params.yaml:4: plan "nothing" used in parameter "a,b" is not defined`) || strings.Contains(f.out.String(), "package is valid") {
		t.Error(f.out.String())
	}
	for format, want := range map[string]string{"json": `"valid": false`, "yaml": "valid: false"} {
		f.out.Reset()
		if err := f.kudo(t, "package", "verify", folder, "-o", format); err == nil || !strings.Contains(f.out.String(), want) {
			t.Errorf("got %v\n%s", err, f.out.String())
		}
	}
	f.out.Reset()
	if err := f.kudo(t, "package", "verify", first, "-o", "json"); err != nil || f.out.String() != "{\n  \"errors\": [],\n  \"warnings\": [],\n  \"valid\": true\n}\n" {
		t.Errorf("got %v\n%s", err, f.out.String())
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{folder, "-o", "xml"}, "invalid output format"},
		{[]string{folder, "--param-checks", "x"}, `there is no check "x"`},
		{[]string{}, "expected one argument"},
		{[]string{"nowhere"}, `there is no operator package at "nowhere"`},
	} {
		if err := f.kudo(t, append([]string{"package", "verify"}, test.args...)...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v", test.args, err)
		}
	}
	f.out.Reset()
	if err := f.kudo(t, "package", "verify", first, "--param-checks", "hint,hasgroup"); err != nil || !strings.Contains(f.out.String(), `parameter "replicas" has no group`) {
		t.Errorf("got %v\n%s", err, f.out.String())
	}
}

func TestPackageCreate(t *testing.T) {
	f := newFixture(t)
	out := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(out, "keyvalue-7.2.0_0.1.0.tgz")
	if err := f.kudo(t, "package", "create", keyvalue, "-d", out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("package is valid\nPackage created: "+path+"\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.kudo(t, "package", "create", keyvalue, "-d", out); err == nil || !strings.Contains(err.Error(), path+" exists already; replace it with --overwrite") {
		t.Errorf("got %v", err)
	}
	if err := f.kudo(t, "package", "create", keyvalue, "-d", out, "-w"); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the same package gave other bytes, %v", err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v", left, err)
	}
	// What was packed can be installed.
	if err := f.kudo(t, "install", path, "-p", "password=x"); err != nil {
		t.Error(err)
	}

	// Operators beside the folder are not packed, and that is said.
	root := t.TempDir()
	writePackage(t, filepath.Join(root, "child"), operatorYAML("child", "0.0.1"), "")
	parent := writePackage(t, filepath.Join(root, "parent"), operatorYAML("parent", "0.1.0", "../child"), "")
	if err := f.kudo(t, "package", "create", parent, "-d", root); err != nil || !strings.Contains(f.err.String(), `Warning: the archive cannot be installed as it is: operator.yaml:6: tasks[1] "t0": spec.package "../child": "../child" leads out of the archive`) {
		t.Errorf("got %v\n%s", err, f.err.String())
	}

	// What is not valid is not packed.
	bad := writePackage(t, t.TempDir(), faulty, "")
	if err := f.kudo(t, "package", "create", bad, "-d", out); err == nil || !strings.Contains(err.Error(), "found 1 package verification errors") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v", left, err)
	}
}
