// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package outage

import (
	"slices"
	"testing"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestExecutorRestartsDuringRun: while nobody carries runs out, plans can be started and wait. What a step waited for may happen meanwhile.
func TestExecutorRestartsDuringRun(t *testing.T) {
	l := enter(t)
	pe := waiting(t, l)
	other := l.Namespace(t)
	l.Deployed(t, other, operator("test/"+other))
	must(t, l.KUDO.StopExecutor(t.Context()))
	t.Cleanup(func() {
		if err := l.KUDO.LaunchExecutor(); err != nil {
			t.Error(err)
		}
	})
	// Until it stopped it may have said more of what it waits for.
	pe = l.Run(t, pe, "to be as the executor left it", func(*v1beta1.PlanExecution) bool { return true })
	forget(t, l, pe)
	allowed(t, l, pe)
	accepted := l.Trigger(t, other, "quick")
	if _, err := l.Cluster.Kubectl("get", "planexecutions,instances", "-A"); err != nil {
		t.Error(err)
	}
	for _, run := range []*v1beta1.PlanExecution{pe, accepted} {
		l.Run(t, run, "to be where it was", func(now *v1beta1.PlanExecution) bool {
			if now.ResourceVersion != run.ResourceVersion {
				t.Errorf("somebody went on with a run: was %+v, is %+v", run.Status, now.Status)
			}
			return true
		})
	}
	begin := time.Now()
	must(t, l.KUDO.StartExecutor(t.Context()))
	completes(t, l, pe)
	l.Ended(t, accepted, v1beta1.ExecutionComplete)
	t.Logf("both runs complete %v after the start of the executor", time.Since(begin).Round(100*time.Millisecond))
}

// TestKubeAPIServerRestarts: kube-apiserver is killed under a run and comes back. The server stays; an executor that could not renew
// its lease ends, as it must, and is started again, which in a cluster the kubelet does.
func TestKubeAPIServerRestarts(t *testing.T) {
	l := enter(t)
	pe := waiting(t, l)
	for _, what := range []string{"for a moment", "until the lease is lost"} {
		t.Run(what, func(t *testing.T) {
			must(t, l.Cluster.KillAPIServer())
			if what != "for a moment" {
				deadline := time.Now().Add(lab.Patience)
				for !slices.Contains(l.KUDO.Dead(), "kudo-executor") {
					if time.Now().After(deadline) {
						t.Fatal("an executor that cannot renew its lease goes on")
					}
					time.Sleep(50 * time.Millisecond) // between looks at the process
				}
			}
			begin := time.Now()
			must(t, l.Cluster.Repair(t.Context()))
			if slices.Contains(l.KUDO.Dead(), "kudo-apiserver") {
				t.Error("kudo-apiserver ended because kube-apiserver did")
			}
			must(t, l.KUDO.WaitAvailable(t.Context()))
			t.Logf("kudo.dev is served %v after the start of kube-apiserver", time.Since(begin).Round(100*time.Millisecond))
			must(t, l.KUDO.StartExecutor(t.Context()))

			ns := l.Namespace(t)
			l.Deployed(t, ns, operator("test/"+ns))
			l.Ended(t, l.Trigger(t, ns, "quick"), v1beta1.ExecutionComplete)
			t.Logf("a new Instance is deployed %v after the start of kube-apiserver", time.Since(begin).Round(100*time.Millisecond))
			remove(t, l, ns)
			l.Object(t, namespaces, "", ns, "to be gone", gone)
		})
	}
	l.Run(t, pe, "to wait still", func(now *v1beta1.PlanExecution) bool {
		return now.Status.Status == v1beta1.ExecutionInProgress && lab.Step(t, now, "wait").Status == v1beta1.ExecutionInProgress
	})
	forget(t, l, pe)
	allowed(t, l, pe)
	begin := time.Now()
	completes(t, l, pe)
	t.Logf("complete %v after the event", time.Since(begin).Round(100*time.Millisecond))
}
