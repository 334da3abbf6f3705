// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package node

import (
	"flag"
	"os"
	"strings"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

var room = lab.Room{Options: lab.Options{
	Cluster: cluster.Options{Mode: cluster.ModeContainers},
	// An executor that was killed is replaced at once; a lease would only make the test wait.
	KUDO: cluster.KUDOOptions{ExecutorArgs: []string{"--leader-elect=false", "--pipe-image=" + cluster.BusyboxImage}},
}}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(room.Main(m))
}

// possible skips where there can be no real containers.
func possible(t *testing.T) {
	t.Helper()
	if os.Getenv("KUDO_E2E") == "" {
		t.Skip("real containers take long: set KUDO_E2E=1, or run make e2e")
	}
	if missing := cluster.ContainersMissing(); len(missing) > 0 {
		t.Skipf("no real containers on this machine: %s", strings.Join(missing, "; "))
	}
}

func enter(t *testing.T) *lab.Lab {
	t.Helper()
	possible(t)
	return room.Enter(t)
}

// kubectl runs kubectl as the administrator and returns what it prints.
func kubectl(t *testing.T, l *lab.Lab, stdin string, args ...string) string {
	t.Helper()
	out, err := l.Cluster.KubectlAs(t.Context(), cluster.Admin, strings.NewReader(stdin), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}
