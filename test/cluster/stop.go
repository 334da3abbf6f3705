// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Stop ends every process of the cluster, KUDO's too, and waits until they are
// gone. Its data stay in the folder. It does nothing where nothing runs.
func (c *Cluster) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var errs []error
	for _, name := range c.stopOrder() {
		// Only etcd and a real node have something to put away. The others are killed: an API
		// server whose etcd or clients went away takes a minute to leave by itself.
		sig := syscall.SIGKILL
		if name == etcd || name == realNode {
			sig = syscall.SIGTERM
		}
		errs = append(errs, c.signal(ctx, name, sig))
	}
	return errors.Join(errs...)
}

// stopOrder is everything with a pid file, those first that others do not need.
func (c *Cluster) stopOrder() []string {
	order := c.names()
	slices.Reverse(order)
	files, _ := filepath.Glob(c.path("run", "*.pid"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pid")
		if !slices.Contains(order, name) {
			order = slices.Insert(order, 0, name)
		}
	}
	return order
}

// Remove stops the cluster and removes its folder with all data.
func (c *Cluster) Remove() error {
	if err := c.Stop(); err != nil {
		return err
	}
	return os.RemoveAll(c.dir)
}

// KillAPIServer ends kube-apiserver as kill -9 does and returns when it is gone;
// Repair starts it again.
func (c *Cluster) KillAPIServer() error {
	ctx, cancel := withPatience(context.Background())
	defer cancel()
	return c.signal(ctx, kubeAPIServer, syscall.SIGKILL)
}

// Dead names the processes of the control plane that ought to run and do not.
func (c *Cluster) Dead() []string {
	return slices.DeleteFunc(c.names(), func(name string) bool { return c.pid(name) != 0 })
}

// Repair starts what Dead names on the data that are there, and returns when the
// cluster is ready again.
func (c *Cluster) Repair(ctx context.Context) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	return c.launch(ctx)
}
