// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// LaunchServer starts kudo-apiserver unless it runs and does not wait for it: see
// WaitAvailable.
func (k *KUDO) LaunchServer() error {
	if k.c.pid(kudoServer) != 0 {
		return nil
	}
	return k.c.start(k.serverComponent())
}

// StartServer starts kudo-apiserver unless it runs and waits until kudo.dev is
// served.
func (k *KUDO) StartServer(ctx context.Context) error {
	if err := k.LaunchServer(); err != nil {
		return err
	}
	return k.WaitAvailable(ctx)
}

// KillServer ends kudo-apiserver as kill -9 does and returns when it is gone.
func (k *KUDO) KillServer() error { return k.end(context.Background(), kudoServer, syscall.SIGKILL) }

// StopServer asks kudo-apiserver to end (SIGTERM) and returns when it is gone.
func (k *KUDO) StopServer(ctx context.Context) error { return k.end(ctx, kudoServer, syscall.SIGTERM) }

// LaunchExecutor starts kudo-executor unless it runs and does not wait for it.
func (k *KUDO) LaunchExecutor() error {
	if k.c.pid(kudoExecutor) != 0 {
		return nil
	}
	return k.c.start(k.executorComponent())
}

// StartExecutor starts kudo-executor unless it runs and waits until it is healthy.
func (k *KUDO) StartExecutor(ctx context.Context) error {
	if err := k.LaunchExecutor(); err != nil {
		return err
	}
	return k.waitExecutor(ctx)
}

// KillExecutor ends kudo-executor as kill -9 does and returns when it is gone.
func (k *KUDO) KillExecutor() error {
	return k.end(context.Background(), kudoExecutor, syscall.SIGKILL)
}

// StopExecutor asks kudo-executor to end (SIGTERM) and returns when it is gone.
func (k *KUDO) StopExecutor(ctx context.Context) error {
	return k.end(ctx, kudoExecutor, syscall.SIGTERM)
}

// Stop kills both. The data stay.
func (k *KUDO) Stop() error {
	if err := k.KillExecutor(); err != nil {
		return err
	}
	return k.KillServer()
}

// ServerLog is the file kudo-apiserver logs to, through all its restarts.
func (k *KUDO) ServerLog() string { return k.c.logPath(kudoServer) }

// ExecutorLog is the file kudo-executor logs to, through all its restarts.
func (k *KUDO) ExecutorLog() string { return k.c.logPath(kudoExecutor) }

// ServerURL is where kudo-apiserver itself listens, past the aggregator.
func (k *KUDO) ServerURL() string {
	return fmt.Sprintf("https://127.0.0.1:%d", k.state.ServerPort)
}

// ExecutorURL is where kudo-executor serves its health.
func (k *KUDO) ExecutorURL() string { return "http://" + k.executorAddress() }

func (k *KUDO) executorAddress() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(k.state.ExecutorHealthPort))
}

func (k *KUDO) end(ctx context.Context, name string, sig syscall.Signal) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	return k.c.signal(ctx, name, sig)
}
