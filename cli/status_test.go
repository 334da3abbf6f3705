// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func TestStatusOfNothing(t *testing.T) {
	f := newFixture(t, testInstance(), testVersion())
	if err := f.kudo(t, "plan", "status", "--instance", "kv"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("No plan ever run for instance - nothing to show for instance kv\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestStatusChoosesTheRun(t *testing.T) {
	older, newer := testRun("older", v1beta1.ExecutionComplete), testRun("newer", v1beta1.ExecutionComplete)
	older.Status.Message, newer.Status.Message = "older", "newer"
	newer.CreationTimestamp = *at("11:00:00")
	newer.Status.StartTime = at("11:00:00")
	other := testRun("other", v1beta1.ExecutionInProgress)
	other.Spec.InstanceName, other.CreationTimestamp = "another", *at("12:00:00")

	locked := testInstance()
	locked.Spec.PlanExecution.UID = "older"
	later := testInstance()
	later.Status.PlanStatus = map[string]v1beta1.PlanStatus{"backup": {Status: v1beta1.ExecutionComplete, UID: "deleted", Message: "of the status", LastUpdatedTimestamp: at("13:00:00")}}
	for _, test := range []struct {
		name     string
		instance *v1beta1.Instance
		want     string
	}{
		{"the newest", testInstance(), "Plan deploy (serial strategy) [COMPLETE] (newer)"},
		{"the one with the lock", locked, "Plan deploy (serial strategy) [COMPLETE] (older)"},
		{"one whose PlanExecution is gone", later, "Plan backup (serial strategy) [COMPLETE] (of the status)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.instance, testVersion(), older, newer, other)
			if err := f.kudo(t, "plan", "status", "--instance", "kv"); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(f.out.String(), test.want) {
				t.Errorf("want %s in\n%s", test.want, f.out.String())
			}
		})
	}
}

func TestStatusWaits(t *testing.T) {
	a, b := step("settings", v1beta1.ExecutionComplete, ""), step("access", v1beta1.ExecutionComplete, "")
	locked := testInstance()
	locked.Spec.PlanExecution.UID = "new"
	f := newFixture(t, locked, testVersion())
	f.finish(t,
		testRun("new", v1beta1.ExecutionInProgress, a, b, step("nodes", v1beta1.ExecutionInProgress, "1 of 3")),
		testRun("new", v1beta1.ExecutionInProgress, a, b, step("nodes", v1beta1.ExecutionInProgress, "2 of 3")),
		testRun("new", v1beta1.ExecutionFatalError, a, b, step("nodes", v1beta1.ExecutionFatalError, "deadline")))
	err := f.kudo(t, "plan", "status", "--instance", "kv", "-w")
	if err == nil || err.Error() != "plan deploy of instance default/kv failed in step nodes.nodes: deadline" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"Step nodes [IN_PROGRESS] (1 of 3)\n", "\ndeploy.nodes.nodes: Step nodes [IN_PROGRESS] (2 of 3)\n", "\ndeploy.nodes.nodes: Step nodes [FATAL_ERROR] (deadline)\n"} {
		if !strings.Contains(f.out.String(), want) {
			t.Errorf("want %q in\n%s", want, f.out.String())
		}
	}

	// A run that has ended is shown, and its outcome is the exit code.
	idle := testInstance()
	f = newFixture(t, idle, testVersion(), testRun("new", v1beta1.ExecutionFatalError))
	if err := f.kudo(t, "plan", "status", "--instance", "kv", "--wait"); err == nil || !strings.Contains(f.out.String(), "[FATAL_ERROR]") {
		t.Errorf("got %v\n%s", err, f.out.String())
	}
	if err := f.kudo(t, "plan", "status", "--instance", "kv"); err != nil {
		t.Errorf("without --wait showing is all that is asked for, but got %v", err)
	}
}

func TestStatusEndsWhenTheRunIsDeleted(t *testing.T) {
	f := newFixture(t, testInstance(), testVersion(), testRun("new", v1beta1.ExecutionInProgress))
	go func() {
		time.Sleep(400 * time.Millisecond)
		if err := f.client.KudoV1beta1().PlanExecutions("default").Delete(context.Background(), "kv-deploy-new", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}()
	if err := f.kudo(t, "plan", "status", "--instance", "kv", "--wait"); err == nil || !strings.Contains(err.Error(), errDeleted.Error()) {
		t.Errorf("got %v", err)
	}
}

func TestStatusOutput(t *testing.T) {
	instance := testInstance()
	instance.Status.PlanStatus = map[string]v1beta1.PlanStatus{"deploy": {Name: "deploy", Status: v1beta1.ExecutionComplete}}
	for format, want := range map[string]string{
		"yaml": "planStatus:\n  deploy:\n    name: deploy\n    status: COMPLETE\n",
		"json": "{\n  \"planStatus\": {\n    \"deploy\": {\n      \"name\": \"deploy\",\n      \"status\": \"COMPLETE\"\n    }\n  }\n}\n",
	} {
		f := newFixture(t, instance)
		if err := f.kudo(t, "plan", "status", "--instance", "kv", "-o", format); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, f.out.String()); diff != "" {
			t.Error(diff)
		}
	}
	if err := newFixture(t, instance).kudo(t, "plan", "status", "--instance", "kv", "-o", "wide"); err == nil {
		t.Error("no error")
	}
}

func TestGet(t *testing.T) {
	f := newFixture(t, testInstance(), testVersion(), &v1beta1.Operator{ObjectMeta: metav1.ObjectMeta{Name: "kv", Namespace: "default"}},
		&v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}})
	for kind, want := range map[string]string{"instances": ".\n├── a\n└── kv\n", "operators": ".\n└── kv\n", "operatorversions": ".\n└── kv-7.2-0.1.0\n"} {
		f.out.Reset()
		if err := f.kudo(t, "get", kind); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("List of current installed "+kind+" in namespace \"default\":\n"+want, f.out.String()); diff != "" {
			t.Error(diff)
		}
	}
}
