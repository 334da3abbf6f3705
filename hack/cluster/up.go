// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kudo.dev/kudo/test/cluster"
)

// up brings the cluster to where everything of it works, from wherever it is.
func (l *local) up(ctx context.Context) (*cluster.Cluster, error) {
	if err := l.checkPrograms(); err != nil {
		return nil, err
	}
	begin := time.Now()
	c, err := l.controlPlane(ctx)
	if err != nil {
		return nil, err
	}
	if err := linkKubectl(c); err != nil {
		return nil, err
	}
	if err := l.kudo(ctx, c); err != nil {
		return nil, err
	}
	fmt.Printf("The cluster in %s is up (%s).\n", l.dir, since(begin))
	return c, nil
}

// checkPrograms before anything is started: what is missing is missing at the end.
func (l *local) checkPrograms() error {
	for _, name := range []string{"kudo-apiserver", "kudo-executor"} {
		if _, err := os.Stat(filepath.Join(l.binDir, name)); err != nil {
			return fmt.Errorf("no %s in %s: run make build, or name another folder with --bin-dir", name, l.binDir)
		}
	}
	return nil
}

// controlPlane opens, repairs or starts Kubernetes.
func (l *local) controlPlane(ctx context.Context) (*cluster.Cluster, error) {
	c, err := cluster.Open(l.dir, say)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("Starting Kubernetes in %s\n", l.dir)
		return cluster.Start(ctx, cluster.Options{Dir: l.dir, NodeCount: l.nodes, Detach: true, Log: say})
	}
	if err != nil {
		return nil, err
	}
	if err := c.Healthy(ctx); err == nil {
		fmt.Printf("Kubernetes runs in %s and is healthy\n", l.dir)
		return c, nil
	}
	if dead := c.Dead(); len(dead) > 0 {
		fmt.Printf("Kubernetes in %s: starting again what does not run: %s\n", l.dir, strings.Join(dead, ", "))
	} else {
		fmt.Printf("Kubernetes in %s: waiting for it to become ready\n", l.dir)
	}
	return c, c.Repair(ctx)
}

// kudo opens, repairs or installs KUDO, and restarts what was built anew.
func (l *local) kudo(ctx context.Context, c *cluster.Cluster) error {
	k, err := cluster.OpenKUDO(c)
	if err == nil && k.BinDir() != absolute(l.binDir) {
		fmt.Printf("KUDO runs from %s, not %s: installing the latter\n", k.BinDir(), l.binDir)
		if err := k.Stop(); err != nil {
			return err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("Installing KUDO from %s\n", l.binDir)
		_, err = cluster.InstallKUDO(ctx, c, cluster.KUDOOptions{BinDir: l.binDir})
		return err
	}
	if err != nil {
		return err
	}
	old, err := k.KillOutdated()
	if err != nil {
		return err
	}
	if len(old) > 0 {
		fmt.Printf("KUDO: built anew since it was started: %s\n", strings.Join(old, ", "))
	}
	if dead := k.Dead(); len(dead) > 0 {
		fmt.Printf("KUDO: starting what does not run: %s\n", strings.Join(dead, ", "))
		return k.Repair(ctx)
	}
	if err := k.Healthy(ctx); err != nil {
		fmt.Printf("KUDO: waiting for it to become healthy: %v\n", err)
		return k.Repair(ctx)
	}
	fmt.Println("KUDO runs and is healthy")
	return nil
}

// linkKubectl puts the kubectl of the cluster's version where the printed PATH
// finds it.
func linkKubectl(c *cluster.Cluster) error {
	dir := filepath.Join(c.Dir(), "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	link := filepath.Join(dir, "kubectl")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(filepath.Join(c.BinDir(), "kubectl"), link)
}
