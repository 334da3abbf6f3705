// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kuttl

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// rooms are the clusters for which the two folders of suites were written.
var rooms = map[string]*lab.Room{
	"integration": {Options: lab.Options{Cluster: cluster.Options{Mode: cluster.ModeAPI}}},
	"e2e":         {Options: lab.Options{Cluster: cluster.Options{Mode: cluster.ModeNodes}, Prepare: likeRealNodes}},
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, room := range rooms {
		code = room.Close(code)
	}
	os.Exit(code)
}

// TestKUTTLIntegration: the suites for a control plane on which nothing acts.
func TestKUTTLIntegration(t *testing.T) {
	// Nobody removes a namespace there, so nobody may wait for it.
	args := []string{"--skip-delete"}
	if suites := shared(); suites != "" {
		args = append(args, "--manifest-dir", filepath.Join(suites, "manifests"))
	}
	run(t, "integration", args...)
}

// TestKUTTLNodes: the suites for a cluster with nodes.
func TestKUTTLNodes(t *testing.T) {
	run(t, "e2e")
}

func run(t *testing.T, kind string, args ...string) {
	t.Helper()
	program := os.Getenv("KUDO_KUTTL")
	if program == "" {
		t.Skip("no kuttl: make kuttl builds it and runs the suites")
	}
	work := t.TempDir()
	from := []string{filepath.Join("testdata", kind)}
	if suites := shared(); suites != "" {
		from = slices.Insert(from, 0, filepath.Join(suites, kind))
	}
	names := copySuites(t, filepath.Join(work, kind), from...)
	if only := os.Getenv("KUDO_KUTTL_SUITE"); only != "" {
		args, names = append(args, "--test", only), slices.DeleteFunc(names, func(name string) bool { return name != only })
	} else {
		skipAbsent(t, kind, names)
	}
	if len(names) == 0 {
		t.Skip("no such suite here")
	}
	l := rooms[kind].Enter(t)
	serviceAccount(t, l)
	// kuttl puts the folder bin of its working folder before the others on PATH, and writes the kubeconfig of the commands there.
	if err := os.MkdirAll(filepath.Join(work, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{filepath.Join(l.Cluster.BinDir(), "kubectl"), filepath.Join(l.KUDO.BinDir(), "kubectl-kudo")} {
		if err := os.Symlink(tool, filepath.Join(work, "bin", filepath.Base(tool))); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{"test", filepath.Join(work, kind), "--timeout", "120", "--parallel", "4", "--suppress-log", "events"}, args...)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = work, l.Cluster.ClientEnv(cluster.Admin)
	begin := time.Now()
	output, err := cmd.CombinedOutput()
	t.Logf("kuttl %s: %v", strings.Join(args, " "), time.Since(begin).Round(time.Second))
	ends := results(string(output))
	failed := false
	var table strings.Builder
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			end := ends[name]
			if end == nil || end.took == "" {
				failed = true
				fmt.Fprintf(&table, "not run       %s\n", name)
				t.Fatal("kuttl did not run it")
			}
			if !end.passed {
				failed = true
				fmt.Fprintf(&table, "FAIL %8s %s\n", end.took, name)
				t.Fatal(end)
			}
			fmt.Fprintf(&table, "pass %8s %s\n", end.took, name)
		})
	}
	t.Logf("suites for %s:\n%s", kind, table.String())
	if err != nil && !failed {
		t.Errorf("kuttl: %v\n%s", err, output)
	}
}

// skipAbsent says which suites of KUDO are not here.
func skipAbsent(t *testing.T, kind string, present []string) {
	t.Helper()
	for _, name := range theirs[kind] {
		if !slices.Contains(present, name) {
			t.Run(name, func(t *testing.T) {
				t.Skipf("a suite of KUDO: set KUDO_SHARED to a folder that has it in kuttl/%s", kind)
			})
		}
	}
}

// serviceAccount makes what kuttl takes for the sign that a cluster works, where no controller does.
func serviceAccount(t *testing.T, l *lab.Lab) {
	t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := l.Kube.CoreV1().ServiceAccounts("default").Create(t.Context(), sa, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}
