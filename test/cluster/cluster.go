// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	stateFile = "cluster.json"
	// patience bounds a start where the caller set no deadline: many times what
	// it takes on a busy machine.
	patience = 3 * time.Minute
)

// Cluster is a control plane that was started, by this process or an earlier one.
type Cluster struct {
	dir   string
	state state
	log   func(format string, args ...any)
}

// Start starts a new cluster and returns when it is ready: the API server
// answers, the controllers act and the nodes are Ready, as far as Mode asks for
// them. On an error nothing is left running; the folder stays, for its logs.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	// Compiling may take minutes and is no part of what the patience is for.
	bin, err := binDir(ctx, o.BinDir, o.Log)
	if err != nil {
		return nil, err
	}
	var parts nodeParts
	if o.Mode == ModeContainers {
		if parts, err = findNodeParts(ctx, o.Log); err != nil {
			return nil, err
		}
	}
	ctx, cancel := withPatience(ctx)
	defer cancel()
	if err := claim(o.Dir); err != nil {
		return nil, err
	}
	c := &Cluster{dir: o.Dir, log: o.Log, state: state{
		Mode: o.Mode, NodeCount: o.NodeCount, BinDir: bin, Detach: o.Detach,
		EnableStageCRDs: o.EnableStageCRDs, Durable: o.Durable, APIServerArgs: o.APIServerArgs,
		NodePrograms: parts.programs, NodeImages: parts.images,
	}}
	if err := c.prepare(o); err != nil {
		return nil, fmt.Errorf("cluster: prepare %s: %w", o.Dir, err)
	}
	if err := c.launch(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// Open takes over the cluster that lives in dir, whether it runs or not. The
// error is fs.ErrNotExist where there is none. log may be nil.
func Open(dir string, log func(format string, args ...any)) (*Cluster, error) {
	o := Options{Dir: dir, Log: log}
	if err := o.complete(); err != nil {
		return nil, err
	}
	c := &Cluster{dir: o.Dir, log: o.Log}
	if err := readJSON(c.path(stateFile), &c.state); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cluster: no cluster in %s: %w", o.Dir, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return c, nil
}

// prepare writes all that the processes read.
func (c *Cluster) prepare(o Options) error {
	for _, port := range []*int{&c.state.EtcdPort, &c.state.EtcdPeerPort, &c.state.APIServerPort} {
		var err error
		if *port, err = reservePort(); err != nil {
			return err
		}
	}
	if c.state.Mode == ModeContainers {
		var err error
		if c.state.Subnet, err = reserveSubnet(); err != nil {
			return err
		}
	}
	// The state first: what it describes can be stopped and removed from then on.
	if err := writeJSON(c.path(stateFile), c.state); err != nil {
		return err
	}
	for _, dir := range []string{"pki", "run", "log", "users"} {
		if err := os.MkdirAll(c.path(dir), 0o755); err != nil {
			return err
		}
	}
	ca, err := c.writePKI()
	if err != nil {
		return err
	}
	if err := c.writeUsers(ca, append(DefaultUsers(), o.Users...)); err != nil {
		return err
	}
	switch c.state.Mode {
	case ModeNodes:
		return c.writeStages(o.ExtraStages)
	case ModeContainers:
		return c.prepareNode()
	}
	return nil
}

// Dir is the folder of the cluster, as an absolute path.
func (c *Cluster) Dir() string { return c.dir }

// BinDir is the folder of the programs the cluster was started from.
func (c *Cluster) BinDir() string { return c.state.BinDir }

// URL is where kube-apiserver listens.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.state.APIServerPort) }

// EtcdURL is where the etcd of kube-apiserver listens: a client there needs no
// credentials. A KUDO server may keep its data in it too, under its own prefix.
func (c *Cluster) EtcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", c.state.EtcdPort) }

func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}
