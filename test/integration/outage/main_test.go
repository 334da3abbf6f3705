// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package outage

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

var room lab.Room

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(room.Main(m))
}

// enter returns the cluster of all tests. They take too long for every day.
func enter(t *testing.T) *lab.Lab {
	t.Helper()
	if os.Getenv("KUDO_E2E") == "" {
		t.Skip("set KUDO_E2E: it waits for what Kubernetes notices and tries again")
	}
	return room.Enter(t)
}

// operator has a plan "work" whose second step waits until the node has the label, between two that make ConfigMaps, and a plan
// "quick" that is over at once.
func operator(label string) lab.Operator {
	return lab.Operator{
		Plans:     map[string]v1beta1.Plan{"work": lab.Serial("first", "wait", "last"), "quick": lab.Serial("made")},
		Tasks:     []v1beta1.Task{lab.Apply("first", "first"), lab.Apply("wait", "wait"), lab.Apply("last", "last"), lab.Apply("made", "made")},
		Templates: map[string]string{"first": lab.ConfigMap("first", "1"), "wait": lab.Workload("Deployment", "wait", label), "last": lab.ConfigMap("last", "3"), "made": lab.ConfigMap("made", "4")},
	}
}

// waiting installs the operator and returns a run whose second step waits for the label "test/NAMESPACE".
func waiting(t *testing.T, l *lab.Lab) *v1beta1.PlanExecution {
	t.Helper()
	ns := l.Namespace(t)
	l.Deployed(t, ns, operator("test/"+ns))
	return l.Run(t, l.Trigger(t, ns, "work"), "to wait in its second step", func(pe *v1beta1.PlanExecution) bool {
		s := lab.Step(t, pe, "wait")
		return s.Status == v1beta1.ExecutionInProgress && strings.Contains(s.Message, "0 of 1 replicas available")
	})
}

// kubectl runs kubectl as the administrator and returns what it says on both streams.
func kubectl(t *testing.T, l *lab.Lab, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(l.Cluster.BinDir(), "kubectl"), args...)
	// An empty cache, so that kubectl asks the cluster what it serves.
	cmd.Env = append(l.Cluster.ClientEnv(cluster.Admin), "KUBECACHEDIR="+t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
