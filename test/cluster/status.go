// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Process is one process of a cluster, as it stands.
type Process struct {
	// Name is the name of its program and of its log.
	Name string
	// PID is 0 where it ought to run and does not.
	PID int
	// Log is the file it logs to.
	Log string
}

// Processes are those of the control plane.
func (c *Cluster) Processes() []Process { return c.processes(c.names()...) }

// Processes are those of KUDO.
func (k *KUDO) Processes() []Process {
	if k.state.NoExecutor {
		return k.c.processes(kudoServer)
	}
	return k.c.processes(kudoServer, kudoExecutor)
}

func (c *Cluster) processes(names ...string) []Process {
	var all []Process
	for _, name := range names {
		all = append(all, Process{Name: name, PID: c.pid(name), Log: c.logPath(name)})
	}
	return all
}

// Healthy asks once whether everything runs and the API server is ready, and says
// what is wrong if not.
func (c *Cluster) Healthy(ctx context.Context) error {
	if dead := c.Dead(); len(dead) > 0 {
		return fmt.Errorf("cluster: not running: %s", strings.Join(dead, ", "))
	}
	client, err := c.adminClient()
	if err != nil {
		return err
	}
	if err := c.ready(client)(ctx); err != nil {
		return fmt.Errorf("cluster: kube-apiserver is not ready: %w", err)
	}
	return nil
}

// Healthy asks whether both run and kudo.dev is served, and says what is wrong if
// not. It gives the aggregator a few seconds to look again.
func (k *KUDO) Healthy(ctx context.Context) error {
	if dead := k.Dead(); len(dead) > 0 {
		return fmt.Errorf("cluster: not running: %s", strings.Join(dead, ", "))
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := k.WaitAvailable(ctx); err != nil {
		return err
	}
	if k.state.NoExecutor {
		return nil
	}
	return k.waitExecutor(ctx)
}
