// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// component is a process of the cluster: what it is called and how it is run.
// Its name is the base name of its program.
type component struct {
	name    string
	program string
	args    []string
	env     []string
	// cleansUp says that the program leaves something behind if it is killed: it
	// is asked to end (SIGTERM) when its parent ends.
	cleansUp bool
}

// spawn runs a job on the one thread that starts processes. The kernel ties "die
// with your parent" to the thread that started the child, and Go ends threads as
// it pleases; this one stays.
var spawn = sync.OnceValue(func() func(func()) {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return func(job func()) {
		done := make(chan struct{})
		jobs <- func() { defer close(done); job() }
		<-done
	}
})

// start runs the component and notes its pid. Its log is appended to, so that
// what led to a restart can still be read.
func (c *Cluster) start(p component) error {
	log, err := os.OpenFile(c.logPath(p.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.program, p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = c.dir
	cmd.Env = append(c.environment(), p.env...)
	cmd.SysProcAttr = processAttributes(c.state.Detach, p.cleansUp)
	spawn()(func() { err = cmd.Start() })
	if err != nil {
		return fmt.Errorf("cluster: start %s: %w", p.name, err)
	}
	// Reaped at once, so that a process that ended is not taken for a live one.
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	if err := os.WriteFile(c.pidPath(p.name), []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o644); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	// For a moment after its start a process has no command line, which is what
	// a process that ended looks like. That it ends at once is for who waits for it.
	return poll(context.Background(), time.Millisecond, func(context.Context) error {
		select {
		case <-ended:
			return nil
		default:
		}
		if c.pid(p.name) == 0 {
			return fmt.Errorf("cluster: %s has no command line yet", p.name)
		}
		return nil
	})
}

// environment is the caller's as far as it concerns the Go runtime and where
// things are. A KUBECONFIG or an in-cluster address must not leak in, and HOME is
// the cluster's, so that nothing is written to the user's.
func (c *Cluster) environment() []string {
	env := []string{"HOME=" + c.dir}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name == "PATH" || name == "TMPDIR" || name == "TZ" || strings.HasPrefix(name, "GO") {
			env = append(env, kv)
		}
	}
	return env
}

// pid is the process that runs as the component, or 0: the recorded pid counts
// only while it still runs that program with this folder on its command line.
func (c *Cluster) pid(name string) int {
	data, err := os.ReadFile(c.pidPath(name))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 1 {
		return 0
	}
	args := commandLine(pid)
	if len(args) == 0 || filepath.Base(args[0]) != name {
		return 0
	}
	for _, arg := range args[1:] {
		if strings.Contains(arg, c.dir+string(filepath.Separator)) {
			return pid
		}
	}
	return 0
}

// signal sends the component a signal and waits until it has ended. A component
// that does not run is none of its concern.
func (c *Cluster) signal(ctx context.Context, name string, sig syscall.Signal) error {
	if pid := c.pid(name); pid != 0 {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("cluster: end %s (pid %d): %w", name, pid, err)
		}
		err := poll(ctx, 5*time.Millisecond, func(context.Context) error {
			if c.pid(name) == pid {
				return fmt.Errorf("cluster: %s (pid %d) still runs after %s", name, pid, sig)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := os.Remove(c.pidPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *Cluster) pidPath(name string) string { return c.path("run", name+".pid") }
func (c *Cluster) logPath(name string) string { return c.path("log", name+".log") }
