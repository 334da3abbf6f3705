// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const socket = "/run/containerd/containerd.sock"

// runInside makes the machine, starts what runs on it, and returns only if something of that ends.
func (n *node) runInside() error {
	if os.Getpid() != 1 {
		return errors.New("--inside is for the first process of a PID namespace: start node without it")
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := n.writeFiles(); err != nil {
		return err
	}
	if err := n.mount(); err != nil {
		return err
	}
	if err := n.network(); err != nil {
		return err
	}
	if err := n.serveNames(); err != nil {
		return err
	}
	all := &children{names: map[int]string{}}
	if err := all.start(n.log("containerd"), "containerd", "--config="+n.path("containerd.toml")); err != nil {
		return err
	}
	// The control plane is still starting, so this costs no time; and a node that is Ready has its images.
	if err := n.importImages(); err != nil {
		return err
	}
	kubeconfig := func(name string) string { return filepath.Join(n.dir, "users", name+".kubeconfig") }
	err := errors.Join(
		all.start(n.log("kubelet"), filepath.Join(n.programs, "kubelet"), "--config="+n.path("kubelet.yaml"), "--kubeconfig="+kubeconfig("kubelet"),
			"--hostname-override="+n.name, "--node-ip="+n.innerIP()),
		all.start(n.log("kube-proxy"), filepath.Join(n.programs, "kube-proxy"), "--config="+n.path("proxy.yaml"), "--hostname-override="+n.name),
	)
	if err != nil {
		return err
	}
	return all.reap()
}

func (n *node) network() error {
	if err := syscall.Sethostname([]byte(n.name)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"addr", "add", n.innerIP() + "/24", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
		{"route", "add", "default", "via", n.outerIP()},
	} {
		if err := ip(args...); err != nil {
			return err
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// importImages waits for containerd and gives it the images.
func (n *node) importImages() error {
	begin := time.Now()
	for {
		out, err := exec.Command("ctr", "--address="+socket, "version").CombinedOutput()
		if err == nil {
			break
		}
		if time.Since(begin) > time.Minute {
			return fmt.Errorf("containerd does not answer: %w: %s", err, out)
		}
		time.Sleep(20 * time.Millisecond)
	}
	archives, err := filepath.Glob(filepath.Join(n.images, "*.tar"))
	if err != nil {
		return err
	}
	if len(archives) == 0 {
		return fmt.Errorf("no archive of an image in %s", n.images)
	}
	for _, archive := range archives {
		out, err := exec.Command("ctr", "--address="+socket, "--namespace=k8s.io", "images", "import", archive).CombinedOutput()
		if err != nil {
			return fmt.Errorf("import %s: %w: %s", archive, err, out)
		}
	}
	return nil
}

// children are the programs of the node.
type children struct{ names map[int]string }

func (c *children) start(log, program string, args ...string) error {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		return err
	}
	c.names[cmd.Process.Pid] = filepath.Base(program)
	return nil
}

// reap is the duty of a first process: to wait for the children of all who ended without doing so, the shims of
// containerd among them. It returns when a program of the node has ended.
func (c *children) reap() error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return err
		}
		if name := c.names[pid]; name != "" {
			return fmt.Errorf("%s ended (exit status %d, signal %d): see its log", name, status.ExitStatus(), status.Signal())
		}
	}
}
