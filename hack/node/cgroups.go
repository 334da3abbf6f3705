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
)

// groupPrefix begins the names of our cgroups. The pid of the process outside follows.
const groupPrefix = "kudo-node-"

// hierarchy is a cgroup hierarchy: one of the several of v1, or the one of v2.
type hierarchy struct {
	// controllers is empty for v2.
	controllers string
	// home is the folder of the group we were started in, ours that of the new group.
	home, ours string
}

type groups struct{ all []hierarchy }

// newGroups makes a group in each hierarchy, below the one we are in, and removes those of nodes that were killed.
func newGroups() (*groups, error) {
	all, err := hierarchies()
	if err != nil {
		return nil, err
	}
	g := &groups{}
	for _, h := range all {
		parent := h.home
		if h.controllers == "" {
			parent = delegating(h.home)
		}
		if err := sweep(parent); err != nil {
			return nil, err
		}
		h.ours = filepath.Join(parent, groupPrefix+strconv.Itoa(os.Getpid()))
		if err := os.Mkdir(h.ours, 0o755); err != nil {
			return nil, errors.Join(err, g.remove())
		}
		g.all = append(g.all, h)
		if slices.Contains(strings.Split(h.controllers, ","), "cpuset") {
			// Empty in a new group, and then no process may enter it.
			for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
				data, err := os.ReadFile(filepath.Join(parent, file))
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

// hierarchies reads where we are: of v1 if a hierarchy of it has the memory controller, else of v2.
func hierarchies() ([]hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	member, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	var v1, v2 []hierarchy
	for line := range strings.Lines(string(member)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		point, root, ok := mountOf(string(mounts), parts[1])
		if !ok {
			continue
		}
		h := hierarchy{controllers: parts[1], home: filepath.Join(point, strings.TrimPrefix(parts[2], strings.TrimSuffix(root, "/")))}
		if parts[1] == "" {
			v2 = append(v2, h)
		} else {
			v1 = append(v1, h)
		}
	}
	for _, h := range v1 {
		if slices.Contains(strings.Split(h.controllers, ","), "memory") {
			return v1, nil
		}
	}
	for _, h := range v2 {
		data, err := os.ReadFile(filepath.Join(delegating(h.home), "cgroup.controllers"))
		if err == nil && slices.Contains(strings.Fields(string(data)), "memory") {
			return v2, nil
		}
	}
	return nil, errors.New("no cgroup hierarchy here has the memory controller")
}

// mountOf finds where a hierarchy is mounted and which of its groups is on top there.
func mountOf(mounts, controllers string) (point, root string, ok bool) {
	for line := range strings.Lines(mounts) {
		left, right, _ := strings.Cut(strings.TrimSpace(line), " - ")
		fields, kind := strings.Fields(left), strings.Fields(right)
		if len(fields) < 5 || len(kind) < 3 {
			continue
		}
		if controllers == "" {
			ok = kind[0] == "cgroup2"
		} else {
			first, _, _ := strings.Cut(controllers, ",")
			ok = kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), first)
		}
		if ok {
			return fields[4], fields[3], true
		}
	}
	return "", "", false
}

// delegating is the nearest group of v2, from ours upward, that hands the memory controller down: one with processes in
// it cannot.
func delegating(group string) string {
	for ; len(group) > len("/sys/fs/cgroup"); group = filepath.Dir(group) {
		data, err := os.ReadFile(filepath.Join(group, "cgroup.subtree_control"))
		if err == nil && slices.Contains(strings.Fields(string(data)), "memory") {
			return group
		}
	}
	return group
}

func (g *groups) enter() error {
	return g.each(func(h hierarchy) error {
		return os.WriteFile(filepath.Join(h.ours, "cgroup.procs"), []byte("0"), 0o644)
	})
}

func (g *groups) leave() error {
	return g.each(func(h hierarchy) error {
		return os.WriteFile(filepath.Join(h.home, "cgroup.procs"), []byte("0"), 0o644)
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

// sweep removes the groups of nodes whose process outside is no more.
func sweep(parent string) error {
	found, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	if err != nil {
		return err
	}
	for _, group := range found {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(group), groupPrefix))
		if err != nil || pid == os.Getpid() || syscall.Kill(pid, 0) == nil {
			continue
		}
		if err := removeGroup(group); err != nil {
			return err
		}
	}
	return nil
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
