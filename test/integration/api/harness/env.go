// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kudo.dev/kudo/test/cluster"
)

// binVariable names the folder of the programs under test; make test sets it.
const binVariable = "KUDO_BIN"

// Env is one cluster with KUDO in it, shared by the tests of a package.
type Env struct {
	Cluster *cluster.Cluster
	KUDO    *cluster.KUDO
	dir     string
	// playsExecutor tells that there is no executor, and Idle ends runs in its place.
	playsExecutor bool
}

// Run starts a cluster and KUDO, hands them to use, runs the tests and removes everything. It returns the exit code of TestMain:
// the tests fail, too, if the server's log tells of a mistake of the server. The cluster knows the users beside the usual ones.
func Run(m *testing.M, o cluster.KUDOOptions, use func(*Env), users ...cluster.User) int {
	e, err := start(o, users)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if e != nil {
			_ = e.Cluster.Stop()
		}
		return 1
	}
	use(e)
	code := m.Run()
	for _, line := range mistakes(e.KUDO.ServerLog()) {
		fmt.Fprintln(os.Stderr, "the log of kudo-apiserver has:", line)
		code = 1
	}
	if code != 0 && os.Getenv("KUDO_KEEP_LOGS") != "" {
		_ = e.Cluster.Stop()
		fmt.Fprintln(os.Stderr, "the logs are kept in", filepath.Join(e.Cluster.Dir(), "log"))
		return code
	}
	if err := e.Cluster.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.RemoveAll(e.dir)
	return code
}

func start(o cluster.KUDOOptions, users []cluster.User) (*Env, error) {
	if os.Getenv(binVariable) == "" {
		return nil, fmt.Errorf("%s is not set: run make build, then set it to the folder bin", binVariable)
	}
	dir, err := os.MkdirTemp("", "kudo-integration-")
	if err != nil {
		return nil, err
	}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "cluster: "+format+"\n", args...) }
	c, err := cluster.Start(context.Background(), cluster.Options{Dir: filepath.Join(dir, "cluster"), Mode: cluster.ModeControllers, Users: users, Log: logf})
	if err != nil {
		return nil, err
	}
	// A server that is killed leaves the folder of its socket behind.
	o.Env = append(o.Env, "TMPDIR="+dir)
	e := &Env{Cluster: c, dir: dir, playsExecutor: o.NoExecutor}
	e.KUDO, err = cluster.InstallKUDO(context.Background(), c, o)
	return e, err
}

// mistake matches lines of the log that no request may ever cause: fields that cannot be tracked, and panics.
var mistake = regexp.MustCompile(`\[SHOULD NOT HAPPEN\]|panic|runtime error|goroutine \d+ \[`)

func mistakes(log string) []string {
	data, err := os.ReadFile(log)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		if mistake.MatchString(line) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
