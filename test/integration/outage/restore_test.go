// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package outage

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// TestBackupIsRestoredWhileServerRestarts: a copy of the data folder of a stopped server, put in its place later, gives back what was
// stored then: a run that was under way goes on, and plans can be started. The executor, which has seen what came after the copy, goes
// on with what there is now.
func TestBackupIsRestoredWhileServerRestarts(t *testing.T) {
	l := enter(t)
	data, backup := filepath.Join(l.Cluster.Dir(), "kudo-data"), filepath.Join(t.TempDir(), "copy")
	replace := func(from, to string) {
		t.Helper()
		must(t, l.KUDO.StopServer(t.Context()))
		must(t, os.RemoveAll(to))
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		must(t, l.KUDO.StartServer(t.Context()))
	}
	pe := waiting(t, l)
	ns := l.Namespace(t)
	l.Deployed(t, ns, operator("test/"+ns))
	l.Unlocked(t, ns, "sample")
	replace(data, backup)
	for range 5 {
		l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
		l.Unlocked(t, ns, "sample")
	}
	_, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, []byte(`{"metadata":{"labels":{"later":"yes"}}}`), metav1.PatchOptions{})
	must(t, err)

	replace(backup, data)
	begin := time.Now()
	i, err := l.Kudo.KudoV1beta1().Instances(ns).Get(t.Context(), "sample", metav1.GetOptions{})
	must(t, err)
	runs, err := l.Kudo.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if i.Labels["later"] != "" || len(runs.Items) != 1 {
		t.Errorf("it is not what was stored: labels %v, %d runs", i.Labels, len(runs.Items))
	}
	l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
	took := time.Since(begin)
	if took > comeback {
		t.Errorf("the executor needed %v to come back", took)
	}
	t.Logf("a new run is complete %v after the restoration", took.Round(100*time.Millisecond))
	forget(t, l, pe)
	allowed(t, l, pe)
	completes(t, l, pe)
}
