// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"kudo.dev/kudo/hack/node/cgroups"
)

// settings are what the kubelet wants of the machine: it writes those that differ.
var settings = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// mount makes the file systems of the node out of the machine's.
func (n *node) mount() error {
	own, err := cgroups.Hierarchies()
	if err != nil {
		return err
	}
	m := &mounter{}
	m.mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	m.mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	for key, value := range settings {
		file := n.path("settings", strings.ReplaceAll(key, "/", "."))
		m.do(os.WriteFile(file, []byte(value+"\n"), 0o644))
		m.mount(file, "/proc/sys/"+key, "", syscall.MS_BIND, "")
	}
	// That of our network namespace, with our view of the cgroups.
	m.mount("sysfs", "/sys", "sysfs", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	m.cgroups(own)
	m.mount("tmpfs", "/run", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=755")
	m.do(os.MkdirAll("/run/lock", 0o755))
	m.mount(n.path("lib"), "/var/lib", "", syscall.MS_BIND, "")
	m.mount(n.path("log"), "/var/log", "", syscall.MS_BIND, "")
	// The kubelet hands mounts on to containers.
	m.mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, "")
	return m.err
}

// mounter does nothing any more once something failed.
type mounter struct{ err error }

func (m *mounter) do(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *mounter) mount(source, target, kind string, flags uintptr, data string) {
	if m.err != nil {
		return
	}
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		m.err = fmt.Errorf("mount %s %s: %w", source, target, err)
	}
}

// cgroups mounts each hierarchy anew, from our group downward.
func (m *mounter) cgroups(own []cgroups.Hierarchy) {
	const flags = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	const top = "/sys/fs/cgroup"
	if len(own) == 1 && own[0].Controllers == "" {
		m.mount("cgroup2", top, "cgroup2", flags, "")
		// What hands controllers down must have no processes of its own.
		m.do(os.MkdirAll(top+"/init", 0o755))
		m.do(os.WriteFile(top+"/init/cgroup.procs", []byte("0"), 0o644))
		controllers, err := os.ReadFile(top + "/cgroup.controllers")
		m.do(err)
		for controller := range strings.FieldsSeq(string(controllers)) {
			m.do(os.WriteFile(top+"/cgroup.subtree_control", []byte("+"+controller), 0o644))
		}
		return
	}
	m.mount("tmpfs", top, "tmpfs", flags, "mode=755")
	for _, h := range own {
		name, named := strings.CutPrefix(h.Controllers, "name=")
		options := h.Controllers
		if named {
			options = "none," + options
		}
		folder := filepath.Join(top, name)
		m.do(os.MkdirAll(folder, 0o755))
		m.mount("cgroup", folder, "cgroup", flags, options)
	}
}
