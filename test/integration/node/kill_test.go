// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package node

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// victimFolder is set where this program is the one to be killed: it starts a cluster there and waits.
const victimFolder = "KUDO_NODE_TEST_VICTIM"

// TestE2EKillVictim is no test of its own: TestE2EKillLeavesNothing starts it, and kills it.
func TestE2EKillVictim(t *testing.T) {
	dir := os.Getenv(victimFolder)
	if dir == "" {
		t.Skip("only TestE2EKillLeavesNothing starts this")
	}
	possible(t)
	c, err := cluster.Start(t.Context(), cluster.Options{Dir: dir, Mode: cluster.ModeContainers})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	_, err = c.Kubectl("run", "busy", "--image="+cluster.BusyboxImage, "--", "sleep", "3600")
	if err == nil {
		_, err = c.Kubectl("wait", "--for=condition=Ready", "pod/busy", "--timeout=120s")
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("\nstarted")
	select {}
}

// TestE2EKillLeavesNothing: of a node whose test is killed with kill -9 nothing is left on the machine, container included.
func TestE2EKillLeavesNothing(t *testing.T) {
	possible(t)
	dir := filepath.Join(t.TempDir(), "cluster")
	cmd := exec.Command(os.Args[0], "-test.run=^TestE2EKillVictim$")
	cmd.Env = append(os.Environ(), victimFolder+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The victim never ends by itself. It dies with the thread that starts it, so this one is kept.
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var said strings.Builder
	started := false
	for lines := bufio.NewScanner(out); !started && lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		started = lines.Text() == "started"
	}
	found := traces(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if !started {
		t.Fatalf("the cluster did not start: %s", &said)
	}
	// Else what follows would find nothing anyway.
	for _, kind := range []string{"process", "interface", "cgroup"} {
		if !strings.Contains(strings.Join(found, "\n"), kind) {
			t.Errorf("no %s while the node runs: %q", kind, found)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	for {
		left := traces(t, dir)
		if len(left) == 0 {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("left on the machine: %q", left)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// traces is what can be seen of the node of a cluster from outside.
func traces(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range commands {
		if filepath.Dir(file) == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(dir)) {
			found = append(found, "process "+string(bytes.ReplaceAll(data, []byte{0}, []byte{' '})))
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			found = append(found, "mount "+line)
		}
	}
	var state struct{ Subnet int }
	if data, err := os.ReadFile(filepath.Join(dir, "cluster.json")); err == nil {
		if err := json.Unmarshal(data, &state); err != nil {
			t.Fatal(err)
		}
		if link, err := net.InterfaceByName(fmt.Sprintf("kudo%d", state.Subnet)); err == nil {
			found = append(found, "interface "+link.Name)
		}
	}
	// The name of the groups has the pid of the process that is outside.
	pid, err := os.ReadFile(filepath.Join(dir, "run", "kudo-node.pid"))
	if err != nil {
		return found
	}
	name := "kudo-node-" + strings.TrimSpace(string(pid))
	err = filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // Groups come and go.
			return nil
		case err != nil || !entry.IsDir() || entry.Name() != name:
			return err
		}
		found = append(found, "cgroup "+path)
		return fs.SkipDir
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
