// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lock

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newRun(plan, uid string) *kudo.PlanExecution {
	return &kudo.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{Name: "db-" + plan, Namespace: "ns", UID: types.UID(uid), Labels: map[string]string{"a": "b"}},
		Spec: kudo.PlanExecutionSpec{InstanceName: "db", PlanName: plan, RequestedBy: &kudo.RequestedBy{Username: "alice"},
			Parameters: map[string]string{"FILE": "x"}},
		Status: PendingStatus(&kudo.Plan{Strategy: kudo.Serial, Phases: []kudo.Phase{{Name: "main", Strategy: kudo.Parallel, Steps: []kudo.Step{{Name: "one"}}}}}),
	}
}

func newInstance() *kudo.Instance {
	return &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "ns", UID: "instance-uid"}}
}

func TestTakeGivesTheInstanceToTheRun(t *testing.T) {
	i := newInstance()
	if err := Take(i, newRun("deploy", "1"), now); err != nil {
		t.Fatal(err)
	}
	if !Held(i) || !HeldBy(i, "1") || HeldBy(i, "2") || HeldBy(i, "") {
		t.Errorf("the lock is not held by run 1 alone: %+v", i.Spec.PlanExecution)
	}
	want := kudo.PlanStatus{Name: "deploy", Status: kudo.ExecutionPending, UID: "1", LastUpdatedTimestamp: &metav1.Time{Time: now},
		Phases: []kudo.PhaseStatus{{Name: "main", Status: kudo.ExecutionPending, Steps: []kudo.StepStatus{{Name: "one", Status: kudo.ExecutionPending}}}}}
	if diff := cmp.Diff(want, i.Status.PlanStatus["deploy"]); diff != "" {
		t.Error(diff)
	}
	if c := meta.FindStatusCondition(i.Status.Conditions, "Ready"); c == nil || c.Status != metav1.ConditionUnknown || c.Reason != "PlanInProgress" {
		t.Errorf("Ready is %+v while deploy runs", c)
	}
}

func TestTakeLeavesReadyAloneForOtherPlans(t *testing.T) {
	i := newInstance()
	if err := Take(i, newRun("backup", "1"), now); err != nil {
		t.Fatal(err)
	}
	if len(i.Status.Conditions) > 0 {
		t.Errorf("backup changed the conditions: %+v", i.Status.Conditions)
	}
}

func TestTakeRefuses(t *testing.T) {
	held := newInstance()
	if err := Take(held, newRun("deploy", "1"), now); err != nil {
		t.Fatal(err)
	}
	deleted := newInstance()
	deleted.DeletionTimestamp = &metav1.Time{Time: now}
	for _, tc := range []struct {
		name     string
		instance *kudo.Instance
		says     []string
	}{
		{"an Instance that another run holds", held, []string{`plan "backup" cannot start`, `plan "deploy" is PENDING`, `"db-deploy"`, `"alice"`, "kubectl wait"}},
		{"an Instance that is being deleted", deleted, []string{"being deleted"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := tc.instance.DeepCopy()
			err := Take(tc.instance, newRun("backup", "2"), now)
			if !apierrors.IsConflict(err) {
				t.Fatalf("got %v, want a conflict", err)
			}
			for _, text := range tc.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
			if diff := cmp.Diff(before, tc.instance); diff != "" {
				t.Errorf("the refusal changed the Instance: %s", diff)
			}
		})
	}
}

func TestTakeForTheCleanupOfADeletedInstance(t *testing.T) {
	i := newInstance()
	i.DeletionTimestamp = &metav1.Time{Time: now}
	if err := Take(i, newRun("cleanup", "1"), now); err != nil || !HeldBy(i, "1") {
		t.Errorf("the cleanup does not get the lock: %v", err)
	}
}

func TestTakeOver(t *testing.T) {
	i := newInstance()
	first := newRun("backup", "1")
	if err := Take(i, first, now); err != nil {
		t.Fatal(err)
	}
	first.Status.Status = kudo.ExecutionInProgress
	Record(i, first, now)
	TakeOver(i, newRun("cleanup", "2"), "why", now)
	if !HeldBy(i, "2") || i.Spec.PlanExecution.Template.Name != "db-cleanup" {
		t.Errorf("the lock is %+v", i.Spec.PlanExecution)
	}
	if got := Execution(i).Annotations[SupersedesAnnotation]; got != "db-backup" {
		t.Errorf("the run that took over names %q as the one from which it did", got)
	}
	if s := i.Status.PlanStatus["backup"]; s.Status != kudo.ExecutionFatalError || s.Message != "why" || s.UID != "1" {
		t.Errorf("the plan of the run that lost the lock is %+v", s)
	}
	if s := i.Status.PlanStatus["cleanup"]; s.Status != kudo.ExecutionPending || s.UID != "2" {
		t.Errorf("the plan that took over is %+v", s)
	}
	TakeOver(i, newRun("cleanup", "3"), "anew", now)
	if s := i.Status.PlanStatus["cleanup"]; !HeldBy(i, "3") || s.Status != kudo.ExecutionPending || s.UID != "3" {
		t.Errorf("the plan that was started anew is %+v", s)
	}
	free := newInstance()
	TakeOver(free, newRun("cleanup", "4"), "why", now)
	if !HeldBy(free, "4") || Execution(free).Annotations[SupersedesAnnotation] != "" {
		t.Errorf("a free Instance is not taken as such: %+v", free.Spec.PlanExecution)
	}
}

func TestExecutionFollowsFromTheLock(t *testing.T) {
	i := newInstance()
	if Execution(i) != nil {
		t.Error("an idle Instance has a run")
	}
	run := newRun("backup", "1")
	if err := Take(i, run, now); err != nil {
		t.Fatal(err)
	}
	got := Execution(i)
	if got.UID != run.UID || got.Name != run.Name || got.Namespace != "ns" || !metav1.IsControlledBy(got, i) {
		t.Errorf("wrong identity or owner: %+v", got.ObjectMeta)
	}
	if diff := cmp.Diff(run.Spec, got.Spec); diff != "" {
		t.Error(diff)
	}
	got.Spec.Parameters["FILE"] = "changed"
	got.Labels["a"] = "changed"
	if again := Execution(i); again.Spec.Parameters["FILE"] != "x" || again.Labels["a"] != "b" {
		t.Error("the run shares memory with the lock")
	}
}

func TestRecord(t *testing.T) {
	in := func(status kudo.ExecutionStatus, message string) kudo.PlanExecutionStatus {
		return kudo.PlanExecutionStatus{Status: status, Message: message}
	}
	later := now.Add(time.Minute)
	for _, tc := range []struct {
		name    string
		uid     string
		status  kudo.PlanExecutionStatus
		changed bool
		held    bool
		lock    kudo.ExecutionStatus
		plan    kudo.ExecutionStatus
		ready   string
	}{
		{"progress is copied", "1", in(kudo.ExecutionInProgress, ""), true, true, kudo.ExecutionInProgress, kudo.ExecutionInProgress, "PlanInProgress"},
		{"nothing new is no change", "1", newRun("deploy", "1").Status, false, true, kudo.ExecutionPending, kudo.ExecutionPending, "PlanInProgress"},
		{"the end releases the lock", "1", in(kudo.ExecutionComplete, ""), true, false, "", kudo.ExecutionComplete, "ResourcesReady"},
		{"a failure releases the lock", "1", in(kudo.ExecutionFatalError, "why"), true, false, "", kudo.ExecutionFatalError, "PlanInFatalError"},
		{"another run changes nothing", "2", in(kudo.ExecutionComplete, ""), false, true, kudo.ExecutionPending, kudo.ExecutionPending, "PlanInProgress"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := newInstance()
			if err := Take(i, newRun("deploy", "1"), now); err != nil {
				t.Fatal(err)
			}
			run := newRun("deploy", tc.uid)
			run.Status = tc.status
			before := i.DeepCopy()
			if got := Record(i, run, later); got != tc.changed {
				t.Errorf("changed = %v, want %v", got, tc.changed)
			}
			if !tc.changed {
				if diff := cmp.Diff(before, i); diff != "" {
					t.Errorf("no change was reported, but: %s", diff)
				}
			}
			if Held(i) != tc.held || i.Spec.PlanExecution.Status != tc.lock {
				t.Errorf("lock %+v, want held=%v status=%s", i.Spec.PlanExecution, tc.held, tc.lock)
			}
			if got := i.Status.PlanStatus["deploy"]; got.Status != tc.plan || got.Message != tc.status.Message {
				t.Errorf("planStatus %+v, want %s", got, tc.plan)
			}
			if c := meta.FindStatusCondition(i.Status.Conditions, "Ready"); c.Reason != tc.ready {
				t.Errorf("Ready has reason %s, want %s", c.Reason, tc.ready)
			}
		})
	}
}

// TestRecordOfABackup: the end of a plan that does not change the Instance says nothing of objects of which it is known how they are.
func TestRecordOfABackup(t *testing.T) {
	for _, tc := range []struct {
		plan           string
		before         metav1.ConditionStatus
		end            kudo.ExecutionStatus
		status, reason string
	}{
		{"backup", "", kudo.ExecutionComplete, "True", "ResourcesReady"},
		{"backup", metav1.ConditionTrue, kudo.ExecutionComplete, "True", "before"},
		{"backup", metav1.ConditionFalse, kudo.ExecutionComplete, "False", "before"},
		{"backup", metav1.ConditionUnknown, kudo.ExecutionComplete, "True", "ResourcesReady"},
		{"backup", metav1.ConditionFalse, kudo.ExecutionFatalError, "Unknown", "PlanInFatalError"},
		{"deploy", metav1.ConditionFalse, kudo.ExecutionComplete, "True", "ResourcesReady"},
		{"update", metav1.ConditionFalse, kudo.ExecutionComplete, "True", "ResourcesReady"},
		{"upgrade", metav1.ConditionFalse, kudo.ExecutionComplete, "True", "ResourcesReady"},
	} {
		t.Run(fmt.Sprint(tc.plan, tc.before, tc.end), func(t *testing.T) {
			i, run := newInstance(), newRun(tc.plan, "1")
			if tc.before != "" {
				setReady(i, tc.before, "before", "", now)
			}
			if err := Take(i, run, now); err != nil {
				t.Fatal(err)
			}
			run.Status.Status = tc.end
			Record(i, run, now)
			if c := meta.FindStatusCondition(i.Status.Conditions, "Ready"); string(c.Status) != tc.status || c.Reason != tc.reason {
				t.Errorf("Ready is %s, %s", c.Status, c.Reason)
			}
		})
	}
}

func TestRecordOfAFailedCleanupSaysHowToGoOn(t *testing.T) {
	i := newInstance()
	i.DeletionTimestamp = &metav1.Time{Time: now}
	run := newRun(kudo.CleanupPlanName, "1")
	if err := Take(i, run, now); err != nil {
		t.Fatal(err)
	}
	run.Status = kudo.PlanExecutionStatus{Status: kudo.ExecutionFatalError, Message: "no room"}
	Record(i, run, now)
	c := meta.FindStatusCondition(i.Status.Conditions, "Ready")
	for _, text := range []string{"no room", "plan trigger -n ns --instance db --name cleanup", kudo.CleanupFinalizer} {
		if !strings.Contains(c.Message, text) {
			t.Errorf("%q does not say %q", c.Message, text)
		}
	}
	if i.Status.PlanStatus[kudo.CleanupPlanName].Message != "no room" {
		t.Errorf("the message of the plan is %q", i.Status.PlanStatus[kudo.CleanupPlanName].Message)
	}
}

func TestRecordAfterReleaseIsIdempotent(t *testing.T) {
	i := newInstance()
	run := newRun("deploy", "1")
	if err := Take(i, run, now); err != nil {
		t.Fatal(err)
	}
	run.Status = kudo.PlanExecutionStatus{Status: kudo.ExecutionComplete}
	if !Record(i, run, now) || Record(i, run, now) {
		t.Error("the second record of an end must change nothing")
	}
	if err := Take(i, newRun("backup", "2"), now); err != nil {
		t.Errorf("the Instance is not free after the end: %v", err)
	}
}

func TestAbort(t *testing.T) {
	i := newInstance()
	run := newRun("deploy", "1")
	if err := Take(i, run, now); err != nil {
		t.Fatal(err)
	}
	run.Status.Status = kudo.ExecutionInProgress
	run.Status.Phases[0].Status = kudo.ExecutionInProgress
	Record(i, run, now)
	before := i.DeepCopy()
	if Abort(i, "2", "why", now) || !cmp.Equal(before, i) {
		t.Error("a run that does not hold the lock changed the Instance")
	}
	if !Abort(i, "1", "why", now) || Held(i) {
		t.Fatal("the lock is not released")
	}
	want := kudo.PlanStatus{Name: "deploy", Status: kudo.ExecutionFatalError, Message: "why", UID: "1", LastUpdatedTimestamp: &metav1.Time{Time: now},
		Phases: []kudo.PhaseStatus{{Name: "main", Status: kudo.ExecutionFatalError, Steps: []kudo.StepStatus{{Name: "one", Status: kudo.ExecutionPending}}}}}
	if diff := cmp.Diff(want, i.Status.PlanStatus["deploy"]); diff != "" {
		t.Errorf("the tree is not whole: %s", diff)
	}
	if Abort(i, "1", "again", now) {
		t.Error("a second time changed something")
	}
}
