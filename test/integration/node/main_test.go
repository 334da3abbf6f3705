// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package node

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
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

// built builds the node once. A test that ends does not end this: others need it, too.
var built = sync.OnceValue(func() error {
	return cluster.BuildNode(context.Background(), func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) })
})

// possible skips where there can be no real containers. With KUDO_NODE=required it is a failure if what they need cannot be
// fetched or built: that is for a machine on which this is known to work.
func possible(t *testing.T) {
	t.Helper()
	if os.Getenv("KUDO_E2E") == "" {
		t.Skip("real containers take long: set KUDO_E2E=1, or run make e2e")
	}
	if missing := cluster.ContainersMissing(); len(missing) > 0 {
		t.Skipf("no real containers on this machine: %s", strings.Join(missing, "; "))
	}
	if err := built(); err != nil && os.Getenv("KUDO_NODE") == "required" {
		t.Fatal(err)
	} else if err != nil {
		t.Skipf("no real containers, because what they need cannot be had here: %v", err)
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
