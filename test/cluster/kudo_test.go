// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster_test

import (
	"path/filepath"
	"testing"

	"kudo.dev/kudo/test/cluster"
)

// TestInstallKUDO: the cluster serves kudo.dev, and does so again after each way
// its processes can end.
func TestInstallKUDO(t *testing.T) {
	ctx := t.Context()
	c, err := cluster.Start(ctx, cluster.Options{Dir: filepath.Join(t.TempDir(), "cluster"), Mode: cluster.ModeControllers, Log: t.Logf})
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
	k, err := cluster.InstallKUDO(ctx, c, cluster.KUDOOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listed := func(when string) {
		t.Helper()
		if _, err := c.Kubectl("get", "operators,operatorversions,instances,planexecutions", "--all-namespaces"); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	listed("after the start")
	for name, end := range map[string]func() error{
		"kill": k.KillServer,
		"stop": func() error { return k.StopServer(ctx) },
	} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if dead := k.Dead(); len(dead) != 1 {
			t.Errorf("dead after %s: %q", name, dead)
		}
		if err := k.StartServer(ctx); err != nil {
			t.Fatal(err)
		}
		listed("after " + name)
	}
	if err := k.KillExecutor(); err != nil {
		t.Fatal(err)
	}
	if err := k.StartExecutor(ctx); err != nil {
		t.Fatal(err)
	}
	if err := k.StopExecutor(ctx); err != nil {
		t.Fatal(err)
	}
	if reopened, err := cluster.OpenKUDO(c); err != nil || reopened.ServerURL() != k.ServerURL() {
		t.Errorf("opened again: %v", err)
	}
}
