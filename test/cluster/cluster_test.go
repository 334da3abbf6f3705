// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kudo.dev/kudo/test/cluster"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: two}
spec:
  replicas: 2
  selector: {matchLabels: {app: two}}
  template:
    metadata: {labels: {app: two}}
    spec: {containers: [{name: main, image: none}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

// TestControlPlane: what others build on works, and nothing of it is left behind.
func TestControlPlane(t *testing.T) {
	for _, mode := range []cluster.Mode{cluster.ModeAPI, cluster.ModeControllers, cluster.ModeNodes} {
		t.Run(string(mode), func(t *testing.T) { controlPlane(t, cluster.Options{Mode: mode}) })
	}
	t.Run("stages as objects", func(t *testing.T) { controlPlane(t, cluster.Options{EnableStageCRDs: true}) })
}

func controlPlane(t *testing.T, o cluster.Options) {
	o.Dir, o.Log = filepath.Join(t.TempDir(), "cluster"), t.Logf
	c, err := cluster.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		if left := processesIn(t, c.Dir()); len(left) > 0 {
			t.Errorf("left running: %q", left)
		}
	})
	if dead := c.Dead(); len(dead) > 0 {
		t.Errorf("dead after the start: %q", dead)
	}
	if out, err := c.KubectlAs(t.Context(), cluster.Alice, nil, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"); err != nil || out != "alice" {
		t.Errorf("alice is %q, %v", out, err)
	}
	if _, err := c.KubectlAs(t.Context(), cluster.Alice, nil, "get", "pods"); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("alice may list pods: %v", err)
	}
	if o.Mode != "" && o.Mode != cluster.ModeNodes {
		return
	}
	if _, err := c.KubectlAs(t.Context(), cluster.Admin, strings.NewReader(deployment), "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"--for=condition=Available deployment/two", "--for=jsonpath={.status.phase}=Bound pvc/disk"} {
		if _, err := c.Kubectl(append([]string{"wait", "--timeout=60s"}, strings.Fields(what)...)...); err != nil {
			t.Error(err)
		}
	}
}

// TestRepair: a control plane that lost a process gets it back, with its data.
func TestRepair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	c, err := cluster.Start(t.Context(), cluster.Options{Dir: dir, Mode: cluster.ModeAPI, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Remove() })
	if _, err := c.Kubectl("create", "configmap", "kept"); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if c, err = cluster.Open(dir, t.Logf); err != nil {
		t.Fatal(err)
	}
	if dead := c.Dead(); len(dead) != 2 {
		t.Errorf("dead after Stop: %q", dead)
	}
	if err := c.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Kubectl("get", "configmap", "kept"); err != nil {
		t.Error(err)
	}
}

// TestFailure: a process that ends at once is named, with what it said.
func TestFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	_, err := cluster.Start(context.Background(), cluster.Options{
		Dir: dir, Mode: cluster.ModeAPI, APIServerArgs: []string{"--no-such-flag"},
	})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended") || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("got: %v", err)
	}
	if left := processesIn(t, dir); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
}

// processesIn are the command lines that name the folder.
func processesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skipf("no /proc to look for processes in: %v", err)
	}
	var found []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		data, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if line := strings.ReplaceAll(string(data), "\x00", " "); strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return found
}
