// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kudo.dev/kudo/hack/node/cgroups"
)

// groupPrefix begins the names of our cgroups. The pid of the process outside follows.
const groupPrefix = "kudo-node-"

// hierarchy is one with the folder of our group in it.
type hierarchy struct {
	cgroups.Hierarchy
	ours string
}

type groups struct{ all []hierarchy }

// newGroups makes a group in each hierarchy and removes those of nodes that were killed.
func newGroups() (*groups, error) {
	all, err := cgroups.Hierarchies()
	if err != nil {
		return nil, err
	}
	g := &groups{}
	for _, found := range all {
		h := hierarchy{found, filepath.Join(found.Parent, groupPrefix+strconv.Itoa(os.Getpid()))}
		sweep(h.Parent)
		if err := os.Mkdir(h.ours, 0o755); err != nil {
			return nil, errors.Join(err, g.remove())
		}
		g.all = append(g.all, h)
		if slices.Contains(strings.Split(h.Controllers, ","), "cpuset") {
			// Empty in a new group, and then no process may enter it.
			for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
				data, err := os.ReadFile(filepath.Join(h.Parent, file))
				if err == nil {
					err = os.WriteFile(filepath.Join(h.ours, file), data, 0o644)
				}
				if err != nil {
					return nil, errors.Join(err, g.remove())
				}
			}
		}
	}
	return g, nil
}

func (g *groups) enter() error {
	return g.each(func(h hierarchy) error {
		return os.WriteFile(filepath.Join(h.ours, "cgroup.procs"), []byte("0"), 0o644)
	})
}

func (g *groups) leave() error {
	return g.each(func(h hierarchy) error {
		return os.WriteFile(filepath.Join(h.Home, "cgroup.procs"), []byte("0"), 0o644)
	})
}

func (g *groups) remove() error {
	return g.each(func(h hierarchy) error { return removeGroup(h.ours) })
}

func (g *groups) each(do func(hierarchy) error) error {
	var errs []error
	for _, h := range g.all {
		errs = append(errs, do(h))
	}
	return errors.Join(errs...)
}

// sweep removes the groups of nodes whose process outside is no more. What it cannot remove is in nobody's way.
func sweep(parent string) {
	found, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
	}
	for _, group := range found {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(group), groupPrefix))
		// One with our own pid is older than we are. Pids of another PID namespace mean nothing here, processes do.
		if err != nil || pid != os.Getpid() && syscall.Kill(pid, 0) == nil || populated(group) {
			continue
		}
		if err := removeGroup(group); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
		}
	}
}

// populated says whether a process is in a group or in one below.
func populated(group string) bool {
	found := false
	_ = filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil //nolint:nilerr // what is gone has no processes
		}
		data, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err == nil && len(data) > 0 {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// removeGroup removes a group and those below. The kernel takes a moment to forget the processes that were in it.
func removeGroup(group string) error {
	var last error
	for range 200 {
		var folders []string
		err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.Reverse(folders)
		for _, folder := range folders {
			if last = syscall.Rmdir(folder); last != nil && !errors.Is(last, fs.ErrNotExist) {
				break
			}
		}
		if _, err := os.Stat(group); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("remove cgroup %s: %w", group, last)
}
