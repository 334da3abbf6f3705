// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package cgroups

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A new group of v2 gets the memory controller only from a parent that hands it down, and the one we are in often cannot.
func TestV2(t *testing.T) {
	for name, test := range map[string]struct {
		handedDown     map[string]string // by group
		member, parent string
		fails          string
	}{
		"by our own group":       {map[string]string{"": "cpu memory", "a": "cpu memory", "a/b": "memory pids"}, "/a/b", "a/b", ""},
		"by the one above":       {map[string]string{"": "cpu memory", "a": "cpu memory", "a/b": ""}, "/a/b", "a", ""},
		"by the one on top":      {map[string]string{"": "cpu memory", "a": "cpu"}, "/a", "", ""},
		"by none, in a group":    {map[string]string{"": "cpu", "a": ""}, "/a", "", "hands the memory controller down"},
		"by none, while on top":  {map[string]string{"": "cpu pids"}, "/", "", "hands the memory controller down"},
		"in another's name only": {map[string]string{"": "memory_recursiveprot"}, "/", "", "hands the memory controller down"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for group, controllers := range test.handedDown {
				folder := filepath.Join(top, group)
				if err := os.MkdirAll(folder, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte(controllers+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := find(fmt.Sprintf("30 23 0:26 / %s rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", top), "0::"+test.member+"\n")
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("%v, %v: want an error that says %q", got, err, test.fails)
				}
				return
			}
			want := []Hierarchy{{Home: filepath.Join(top, test.member), Parent: filepath.Join(top, test.parent)}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatal(err, diff)
			}
		})
	}
}

// Where v1 has the memory controller, v2 is beside it and has none.
func TestV1(t *testing.T) {
	mounts := `35 30 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
36 30 0:32 /box /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
37 30 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
	member := "9:pids:/\n4:memory:/test\n1:cpu,cpuacct:/box/test\n0::/\n"
	got, err := find(mounts, member)
	want := []Hierarchy{
		{"memory", "/sys/fs/cgroup/memory/test", "/sys/fs/cgroup/memory/test"},
		{"cpu,cpuacct", "/sys/fs/cgroup/cpu/test", "/sys/fs/cgroup/cpu/test"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if got, err := find(strings.ReplaceAll(mounts, "memory", "blkio"), member); err == nil {
		t.Errorf("%v, although nothing that is mounted has the memory controller", got)
	}
}
