// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// processAttributes lets a detached process outlive us and our terminal, and has
// the kernel end any other when we end, even by kill -9.
func processAttributes(detach, cleansUp bool) *syscall.SysProcAttr {
	if detach {
		return &syscall.SysProcAttr{Setsid: true}
	}
	end := syscall.SIGKILL
	if cleansUp {
		end = syscall.SIGTERM
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: end}
}

// commandLine is empty for a process that ended, even before it is reaped.
func commandLine(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimRight(data, "\x00")), "\x00")
}

// runsFile says whether the process was started from the very file that is at
// path now, and not from one that was replaced since.
func runsFile(pid int, path string) bool {
	running, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	present, err := os.Stat(path)
	return err == nil && os.SameFile(running, present)
}
