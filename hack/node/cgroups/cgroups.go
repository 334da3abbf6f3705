// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package cgroups

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Hierarchy is one of the several hierarchies of cgroup v1, or the one of v2.
type Hierarchy struct {
	// Controllers are separated by commas; of v1 a name as in "name=systemd" may stand for them. Empty for v2.
	Controllers string
	// Home is the folder of the group that this process is in.
	Home string
	// Parent is the folder of the group in which new ones can be made: Home, or for v2 the nearest from there upward that
	// hands the memory controller down, which no group can that has processes in it.
	Parent string
}

const writable = 2 // W_OK of access(2)

// Hierarchies reads where this process is: of v1 if a hierarchy of it has the memory controller, else of v2. It is an
// error, which says why, if a new group could not have that controller, or not be made.
func Hierarchies() ([]Hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	member, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	all, err := find(string(mounts), string(member))
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if err := syscall.Access(h.Parent, writable); err != nil {
			return nil, fmt.Errorf("no cgroup can be made in %s: %w", h.Parent, err)
		}
	}
	return all, nil
}

// find takes what the two files say.
func find(mounts, member string) ([]Hierarchy, error) {
	var v1 []Hierarchy
	var v2, top string
	for line := range strings.Lines(member) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		point, root, ok := mountOf(mounts, parts[1])
		if !ok {
			continue
		}
		home := filepath.Join(point, strings.TrimPrefix(parts[2], strings.TrimSuffix(root, "/")))
		if parts[1] == "" {
			v2, top = home, point
		} else {
			v1 = append(v1, Hierarchy{Controllers: parts[1], Home: home, Parent: home})
		}
	}
	for _, h := range v1 {
		if slices.Contains(strings.Split(h.Controllers, ","), "memory") {
			return v1, nil
		}
	}
	if v2 == "" {
		return nil, errors.New("no cgroup hierarchy that is mounted here has the memory controller")
	}
	parent := delegating(v2, top)
	if parent == "" {
		return nil, fmt.Errorf("no cgroup from %s up to %s hands the memory controller down: see their cgroup.subtree_control", v2, top)
	}
	return []Hierarchy{{Home: v2, Parent: parent}}, nil
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

// delegating is the nearest group of v2, from one upward, whose children have the memory controller; empty if none is.
func delegating(group, top string) string {
	for {
		data, err := os.ReadFile(filepath.Join(group, "cgroup.subtree_control"))
		if err == nil && slices.Contains(strings.Fields(string(data)), "memory") {
			return group
		}
		if len(group) <= len(top) {
			return ""
		}
		group = filepath.Dir(group)
	}
}
