// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"kudo.dev/kudo/hack/node/cgroups"
)

// containerPrograms are the programs of a node that are not built here, with the Debian packages that have them.
var containerPrograms = []struct{ program, pack string }{
	{"containerd", "containerd"}, {"ctr", "containerd"}, {"containerd-shim-runc-v2", "containerd"}, {"runc", "runc"},
	{"/usr/lib/cni/bridge", "containernetworking-plugins"}, {"nft", "nftables"}, {"ip", "iproute2"},
	{"apt-get", "apt"}, {"dpkg-deb", "dpkg"},
}

// ContainersMissing says what ModeContainers needs and this machine does not have; nil if it can be started.
func ContainersMissing() []string {
	if uid := os.Geteuid(); uid != 0 {
		return []string{fmt.Sprintf("root is needed, and this is user %d", uid)}
	}
	var missing []string
	for _, p := range containerPrograms {
		if _, err := exec.LookPath(p.program); err != nil {
			missing = append(missing, fmt.Sprintf("no %s: apt-get install %s", filepath.Base(p.program), p.pack))
		}
	}
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err != nil || !bytes.Contains(filesystems, []byte("\toverlay\n")) {
		missing = append(missing, "the kernel has no overlay file system: modprobe overlay")
	}
	if _, err := cgroups.Hierarchies(); err != nil {
		missing = append(missing, err.Error())
	}
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
	}
	if err := cmd.Run(); err != nil {
		missing = append(missing, fmt.Sprintf("the kernel does not let us make namespaces: %v", err))
	}
	return missing
}
