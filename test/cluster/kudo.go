// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	kudoNamespace  = "kudo-system"
	kudoServer     = "kudo-apiserver"
	kudoExecutor   = "kudo-executor"
	kudoAPIService = "v1beta1.kudo.dev"
	kudoStateFile  = "kudo.json"
	// kudoBinVariable names the folder of KUDO's programs, for callers that built
	// them before.
	kudoBinVariable = "KUDO_BIN"
)

// KUDOOptions says which KUDO InstallKUDO starts.
type KUDOOptions struct {
	// BinDir holds kudo-apiserver and kudo-executor. Default: $KUDO_BIN, else they
	// are compiled from the working tree into the cluster's folder.
	BinDir string
	// NoExecutor leaves the executor out: nothing carries plans out until
	// StartExecutor.
	NoExecutor bool
	// ServerArgs and ExecutorArgs are appended to the command lines.
	ServerArgs, ExecutorArgs []string
	// Env is added to the environment of both, as NAME=value.
	Env []string
}

// KUDO is a KUDO in a cluster: kudo-apiserver behind the aggregator and
// kudo-executor, each one process.
type KUDO struct {
	c     *Cluster
	state kudoState
}

type kudoState struct {
	KUDOOptions
	ServerPort         int
	ExecutorHealthPort int
}

// InstallKUDO applies the install manifests, starts the server and the executor,
// and returns when the group kudo.dev is served and the executor is healthy. On
// an error what was started runs on until Stop, for its logs to be read.
func InstallKUDO(ctx context.Context, c *Cluster, o KUDOOptions) (*KUDO, error) {
	bin, err := kudoBinDir(ctx, c, o.BinDir)
	if err != nil {
		return nil, err
	}
	o.BinDir = bin
	ctx, cancel := withPatience(ctx)
	defer cancel()
	k := &KUDO{c: c, state: kudoState{KUDOOptions: o}}
	for _, port := range []*int{&k.state.ServerPort, &k.state.ExecutorHealthPort} {
		if *port, err = reservePort(); err != nil {
			return nil, fmt.Errorf("cluster: %w", err)
		}
	}
	if err := writeJSON(c.path(kudoStateFile), k.state); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return k, k.Repair(ctx)
}

// OpenKUDO takes over the KUDO in a cluster, whether it runs or not. The error is
// fs.ErrNotExist where none was installed.
func OpenKUDO(c *Cluster) (*KUDO, error) {
	k := &KUDO{c: c}
	if err := readJSON(c.path(kudoStateFile), &k.state); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cluster: no KUDO in %s: %w", c.dir, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return k, nil
}

// Repair applies the manifests, which costs nothing where they are applied, starts
// what Dead names, and returns when all of it works.
func (k *KUDO) Repair(ctx context.Context) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	begin := time.Now()
	// First of all the server's rights: it leaves at once where it may not read
	// whom to trust.
	if err := k.applyManifests(ctx); err != nil {
		return err
	}
	k.c.log("the install manifests are applied (%s)", since(begin))
	if err := k.StartServer(ctx); err != nil {
		return err
	}
	k.c.log("%s is Available (%s)", kudoAPIService, since(begin))
	if k.state.NoExecutor {
		return nil
	}
	if err := k.StartExecutor(ctx); err != nil {
		return err
	}
	k.c.log("kudo-executor is healthy (%s)", since(begin))
	return nil
}

// Dead names those of kudo-apiserver and kudo-executor that ought to run and do
// not.
func (k *KUDO) Dead() []string {
	var dead []string
	if k.c.pid(kudoServer) == 0 {
		dead = append(dead, kudoServer)
	}
	if !k.state.NoExecutor && k.c.pid(kudoExecutor) == 0 {
		dead = append(dead, kudoExecutor)
	}
	return dead
}

// KillOutdated kills those that run from a program that was replaced since, and
// names them.
func (k *KUDO) KillOutdated() ([]string, error) {
	var old []string
	for _, name := range []string{kudoServer, kudoExecutor} {
		if pid := k.c.pid(name); pid == 0 || runsFile(pid, filepath.Join(k.state.BinDir, name)) {
			continue
		}
		if err := k.end(context.Background(), name, syscall.SIGKILL); err != nil {
			return old, err
		}
		old = append(old, name)
	}
	return old, nil
}

// BinDir is the folder of the programs it was started from.
func (k *KUDO) BinDir() string { return k.state.BinDir }

// UseBinDir makes later starts take the programs of another folder, which is found as KUDOOptions.BinDir is. What
// runs is left alone.
func (k *KUDO) UseBinDir(ctx context.Context, dir string) error {
	dir, err := kudoBinDir(ctx, k.c, dir)
	if err != nil {
		return err
	}
	k.state.BinDir = dir
	return writeJSON(k.c.path(kudoStateFile), k.state)
}

func (k *KUDO) serverComponent() component {
	kubeconfig := k.c.KubeconfigPath(Server)
	return component{name: kudoServer, program: filepath.Join(k.state.BinDir, kudoServer), env: k.state.Env,
		args: append([]string{
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(k.state.ServerPort),
			"--data-dir=" + k.c.path("kudo-data"),
		}, k.state.ServerArgs...)}
}

func (k *KUDO) executorComponent() component {
	return component{name: kudoExecutor, program: filepath.Join(k.state.BinDir, kudoExecutor), env: k.state.Env,
		args: append([]string{
			"--kubeconfig=" + k.c.KubeconfigPath(Executor),
			"--health-bind-address=" + k.executorAddress(),
		}, k.state.ExecutorArgs...)}
}

// kudoBinDir finds the programs or compiles them.
func kudoBinDir(ctx context.Context, c *Cluster, dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv(kudoBinVariable)
	}
	if dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		for _, name := range []string{kudoServer, kudoExecutor} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				return "", fmt.Errorf("cluster: no %s in %s: build it with make build", name, dir)
			}
		}
		return dir, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	begin := time.Now()
	c.log("compiling kudo-apiserver and kudo-executor")
	dir = c.path("bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir, "./cmd/"+kudoServer, "./cmd/"+kudoExecutor)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cluster: compile KUDO: %w\n%s", err, out)
	}
	c.log("compiled (%s)", since(begin))
	return dir, nil
}
