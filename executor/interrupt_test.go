// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

var instances = v1beta1.SchemeGroupVersion.WithResource("instances")

// end ends the run as the server does when somebody cancels it or another run takes over.
func (w *world) end(reason, message string) *v1beta1.PlanExecution {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	stored, err := w.kudo.Tracker().Get(executions, "ns", "run")
	if err != nil {
		w.t.Fatal(err)
	}
	pe := stored.(*v1beta1.PlanExecution).DeepCopy()
	pe.Status.Status, pe.Status.Message = v1beta1.ExecutionFatalError, message
	pe.Status.CompletionTime = new(metav1.Now())
	meta.SetStatusCondition(&pe.Status.Conditions, metav1.Condition{Type: v1beta1.FailedConditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message})
	w.version++
	pe.ResourceVersion = strconv.Itoa(w.version)
	if err := w.kudo.Tracker().Update(executions, pe, "ns"); err != nil {
		w.t.Fatal(err)
	}
	return pe
}

// lock locks the Instance for the run with this uid, or frees it.
func (w *world) lock(uid string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	stored, err := w.kudo.Tracker().Get(instances, "ns", "zk")
	if err != nil {
		w.t.Fatal(err)
	}
	i := stored.(*v1beta1.Instance).DeepCopy()
	w.version++
	i.ResourceVersion = strconv.Itoa(w.version)
	i.Spec.PlanExecution.UID = types.UID(uid)
	if err := w.kudo.Tracker().Update(instances, i, "ns"); err != nil {
		w.t.Fatal(err)
	}
}

// next makes another run of the Instance: "next", with the uid "nuid".
func (w *world) next() {
	w.t.Helper()
	w.lock("nuid")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version++
	if err := w.kudo.Tracker().Create(executions, &v1beta1.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "next", UID: "nuid", ResourceVersion: strconv.Itoa(w.version), CreationTimestamp: metav1.Now()},
		Spec:       v1beta1.PlanExecutionSpec{InstanceName: "zk", PlanName: "deploy", RevisionName: "rev"}}, "ns"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) nextStatus() v1beta1.PlanExecutionStatus {
	w.t.Helper()
	pe, err := w.kudo.KudoV1beta1().PlanExecutions("ns").Get(context.Background(), "next", metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return pe.Status
}

// forgotten waits until the controller knows nothing of the run and works on nothing.
func (w *world) forgotten(key string) {
	w.t.Helper()
	w.wait("the run to be forgotten", func() bool {
		w.c.mu.Lock()
		defer w.c.mu.Unlock()
		return w.c.runs[key] == nil && w.c.working[key] == nil
	})
}

// unchanged checks that nobody wrote the run after the server had ended it.
func (w *world) unchanged(ended *v1beta1.PlanExecution) {
	w.t.Helper()
	if diff := cmp.Diff(ended, w.run()); diff != "" {
		w.t.Errorf("the ended run was written: %s", diff)
	}
}

// told checks that one event of the reason was made for each, the run and its Instance, and no other that tells of the end.
func (w *world) told(reason, message string) {
	w.t.Helper()
	want := "Normal " + reason + " " + message
	got := slices.DeleteFunc(slices.Clone(w.events), func(e string) bool { return strings.HasPrefix(e, "Normal PlanStarted") })
	if diff := cmp.Diff([]string{want, want}, got); diff != "" {
		w.t.Errorf("events: %s", diff)
	}
}

// TestSuperseded: a run takes over while an apply of the one before is under way. It begins when that has its answer, so that what
// it applies is not overwritten, and the run before does nothing more.
func TestSuperseded(t *testing.T) {
	w := newWorld(t, "s=a,b")
	s := w.slow(false)
	stop := w.start()
	<-s.begun
	const message = `superseded by PlanExecution "next", started by "alice": its parameters were changed`
	ended := w.end(v1beta1.ReasonSuperseded, message)
	w.next()
	w.wait("the next run to wait for its turn", func() bool {
		w.c.turns.mu.Lock()
		defer w.c.turns.mu.Unlock()
		held := w.c.turns.instances["ns/zk"]
		return held != nil && held.run == "ns/run" && held.waiting.Has("ns/next")
	})
	if got := w.nextStatus(); got.Status != "" || len(s.order()) != 0 {
		t.Errorf("the next run is %+v, applied %v", got, s.order())
	}
	close(s.release)
	w.wait("the next run", func() bool { return w.nextStatus().Status == v1beta1.ExecutionComplete })
	w.forgotten("ns/run")
	w.unchanged(ended)
	stop()
	if diff := cmp.Diff([]string{"a ruid", "a nuid", "b nuid"}, s.order()); diff != "" {
		t.Error(diff)
	}
	w.events = slices.DeleteFunc(w.events, func(e string) bool { return strings.Contains(e, "COMPLETE") }) // those of the next run
	w.told("Superseded", "Execution of plan deploy was "+message)
}

// TestCancelled: what a run has under way ends at once when it is cancelled.
func TestCancelled(t *testing.T) {
	w := newWorld(t, "s=a", "t=rm,b")
	s := w.slow(true) // the one that looks at what is to be deleted
	stop := w.start()
	<-s.begun
	ended := w.end(v1beta1.ReasonCancelled, `cancelled by "alice": wrong cluster`)
	w.forgotten("ns/run")
	w.unchanged(ended)
	stop()
	if w.count("b") != 0 {
		t.Errorf("applied %v", w.applied)
	}
	w.told("Cancelled", `Execution of plan deploy was cancelled by "alice": wrong cluster`)
}

// TestCancelledWhileWaiting: a run that waits for an object does not wait for it any more.
func TestCancelledWhileWaiting(t *testing.T) {
	w := newWorld(t, "s=d", "t=b")
	stop := w.start()
	w.wait("the message", func() bool { return strings.Contains(w.step(0).Message, "Deployment ns/d") })
	ended := w.end(v1beta1.ReasonCancelled, "cancelled")
	w.forgotten("ns/run")
	if n := w.c.hub.Waiting(); n != 0 {
		t.Errorf("%d objects are still waited for", n)
	}
	w.setStatus(deployments, "d", healthy)
	w.next()
	w.wait("the next run", func() bool { return w.nextStatus().Status == v1beta1.ExecutionComplete })
	w.unchanged(ended)
	stop()
}

// TestLostLock: a run whose Instance was given to another one is interrupted although nothing says that it has ended.
func TestLostLock(t *testing.T) {
	w := newWorld(t, "s=a,b")
	s := w.slow(false)
	stop := w.start()
	<-s.begun
	before := w.run()
	w.next()
	w.wait("the next run to wait for its turn", func() bool {
		w.c.turns.mu.Lock()
		defer w.c.turns.mu.Unlock()
		held := w.c.turns.instances["ns/zk"]
		return held != nil && held.waiting.Has("ns/next")
	})
	close(s.release)
	w.wait("the next run", func() bool { return w.nextStatus().Status == v1beta1.ExecutionComplete })
	stop()
	w.unchanged(before)
	if diff := cmp.Diff([]string{"a ruid", "a nuid", "b nuid"}, s.order()); diff != "" {
		t.Error(diff)
	}
}

// TestLostLockAtTheWrite: the lock is lost after the executor looked, and the server refuses the write.
func TestLostLockAtTheWrite(t *testing.T) {
	w := newWorld(t, "s=a")
	refused := make(chan struct{}, 10)
	w.kudo.PrependReactor("update", "planexecutions", func(clienttesting.Action) (bool, runtime.Object, error) {
		w.lock("another")
		refused <- struct{}{}
		return true, nil, apierrors.NewConflict(executions.GroupResource(), "run", fmt.Errorf("the run does not hold the lock"))
	})
	stop := w.start()
	<-refused
	w.wait("the run to be dropped", func() bool {
		w.c.mu.Lock()
		defer w.c.mu.Unlock()
		r := w.c.runs["ns/run"]
		return r != nil && w.c.working["ns/run"] == nil && w.c.queue.Len() == 0
	})
	stop()
	if w.c.runs["ns/run"].dropped != "1" || w.count("a") != 0 || len(refused) != 0 {
		t.Errorf("dropped at %q, applied %v, %d more writes", w.c.runs["ns/run"].dropped, w.applied, len(refused))
	}
}

// TestCleanup: the cleanup of an Instance that is being deleted is a run like any other, and the Instance goes with its end.
func TestCleanup(t *testing.T) {
	w := newWorld(t, "s=a", "t=d")
	i, err := w.kudo.KudoV1beta1().Instances("ns").Get(context.Background(), "zk", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	i.DeletionTimestamp, i.Finalizers = new(metav1.Now()), []string{v1beta1.CleanupFinalizer}
	if err := w.kudo.Tracker().Update(instances, i, "ns"); err != nil {
		t.Fatal(err)
	}
	stop := w.start()
	w.wait("the message", func() bool { return strings.Contains(w.step(1).Message, "Deployment ns/d") })
	o, err := w.dynamic.Resource(configMaps).Namespace("ns").Get(context.Background(), "a", metav1.GetOptions{})
	if err != nil || len(o.GetOwnerReferences()) != 1 || o.GetOwnerReferences()[0].UID != "iuid" || o.GetOwnerReferences()[0].Kind != "Instance" {
		t.Errorf("%v: %v", err, o)
	}
	w.kudo.PrependReactor("update", "planexecutions", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.(clienttesting.UpdateAction).GetObject().(*v1beta1.PlanExecution).Status.Status != v1beta1.ExecutionComplete {
			return false, nil, nil
		}
		return false, nil, w.kudo.Tracker().Delete(instances, "ns", "zk") // the server takes the finalizer off in the same request
	})
	w.setStatus(deployments, "d", healthy)
	w.waitStatus(v1beta1.ExecutionComplete)
	w.forgotten("ns/run")
	w.mu.Lock()
	writes := len(w.statuses)
	w.mu.Unlock()
	if err := w.kudo.KudoV1beta1().PlanExecutions("ns").Delete(context.Background(), "run", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.wait("the run to be gone", func() bool { return len(w.c.runsMirror.List()) == 0 })
	stop()
	if w.statuses[len(w.statuses)-1].Status != v1beta1.ExecutionComplete || len(w.statuses) != writes {
		t.Errorf("%d writes after the end: %+v", len(w.statuses)-writes, w.statuses)
	}
	if all := strings.Join(w.events, "\n"); strings.Contains(all, "Warning") || !strings.Contains(all, "finished with status COMPLETE") {
		t.Errorf("events: %s", all)
	}
}
