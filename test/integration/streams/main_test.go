// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package streams

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// The plans need neither controllers nor nodes. An executor that was stopped is replaced at once.
var room = lab.Room{Options: lab.Options{Cluster: cluster.Options{Mode: cluster.ModeAPI}, KUDO: cluster.KUDOOptions{ExecutorArgs: []string{"--leader-elect=false"}}}}

func TestMain(m *testing.M) { os.Exit(room.Main(m)) }

// held installs an operator whose plan "work" has that many steps, and returns a run of it that is suspended before the first.
func held(t *testing.T, l *lab.Lab, steps int) *v1beta1.PlanExecution {
	t.Helper()
	ns := l.Namespace(t)
	var names []string
	templates := map[string]string{}
	var tasks []v1beta1.Task
	for i := range steps {
		name := fmt.Sprintf("s%03d", i)
		names = append(names, name)
		templates[name+".yaml"] = lab.ConfigMap(name, "x")
		tasks = append(tasks, lab.Apply(name, name+".yaml"))
	}
	l.Deployed(t, ns, lab.Operator{Plans: map[string]v1beta1.Plan{"work": lab.Serial(names...)}, Tasks: tasks, Templates: templates})
	return l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "work", Suspend: true})
}

// resume lets a suspended run go on.
func resume(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) {
	t.Helper()
	if _, err := l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Patch(t.Context(), pe.Name, types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// report writes a status in the place of the executor, which must not run.
func report(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, status string) *v1beta1.PlanExecution {
	t.Helper()
	out, err := l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Patch(t.Context(), pe.Name, types.MergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutExecutor stops the executor until the test has ended.
func withoutExecutor(t *testing.T, l *lab.Lab) {
	t.Helper()
	must(t, l.KUDO.StopExecutor(t.Context()))
	t.Cleanup(func() {
		if err := l.KUDO.StartExecutor(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// patient ends what waits for too long.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, part := range all {
		if !strings.Contains(text, part) {
			t.Errorf("%.500q does not say %q", text, part)
		}
	}
}
