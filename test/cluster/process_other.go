// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build unix && !linux

package cluster

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// processAttributes: only Linux ends children with their parent; elsewhere a
// caller that is killed leaves them to the next Stop.
func processAttributes(detach, _ bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: detach}
}

func commandLine(pid int) []string {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// runsFile cannot be told here, so a replaced program is not noticed.
func runsFile(int, string) bool { return true }
