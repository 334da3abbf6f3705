// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// runOutside starts the process inside and ends with it. It keeps no namespace of its own: it cleans up what the kernel
// does not, and leads the node to kube-apiserver.
func (n *node) runOutside() (err error) {
	signals := make(chan os.Signal, 1)
	// SIGTERM is also what comes when the process that started us was killed.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	groups, err := newGroups()
	if err != nil {
		return err
	}
	defer func() {
		if e := groups.remove(); err == nil {
			err = e
		}
	}()
	inside, proceed, err := n.startInside(groups)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- inside.Wait()
		close(ended)
	}()
	defer func() {
		_ = inside.Process.Kill()
		if e := <-ended; err == nil && e != nil {
			err = fmt.Errorf("inside: %w", e)
		}
	}()
	if err := n.connect(inside.Process.Pid); err != nil {
		return err
	}
	if err := n.forward(); err != nil {
		return err
	}
	// The end of its input is the sign that the network is there.
	if err := proceed.Close(); err != nil {
		return err
	}
	select {
	case <-signals:
		_ = inside.Process.Kill()
		for range ended { // it was killed, which is no error
		}
		return nil
	case e := <-ended:
		return fmt.Errorf("inside: %w", e)
	}
}

// startInside starts this program again in namespaces of its own. The cgroup namespace begins at the group that its
// creator is in, so we are in the new groups for that moment.
func (n *node) startInside(groups *groups) (*exec.Cmd, io.Closer, error) {
	cmd := exec.Command("/proc/self/exe", append(os.Args[1:], "--inside")...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
		Pdeathsig:  syscall.SIGKILL,
	}
	proceed, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := groups.enter(); err != nil {
		return nil, nil, err
	}
	// main has locked this goroutine to its thread.
	startErr := cmd.Start()
	if err := groups.leave(); err != nil && startErr == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, nil, err
	}
	return cmd, proceed, startErr
}

// connect makes the veth pair with one end inside, and the way back to the pods, who speak to us with addresses of their
// own. All of it goes when the namespace goes.
func (n *node) connect(pid int) error {
	for _, args := range [][]string{
		{"link", "add", n.link(), "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(pid)},
		{"addr", "add", n.outerIP() + "/24", "dev", n.link()},
		{"link", "set", n.link(), "up"},
		{"route", "add", n.podCIDR(), "via", n.innerIP(), "dev", n.link()},
	} {
		if err := ip(args...); err != nil {
			return err
		}
	}
	return nil
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
