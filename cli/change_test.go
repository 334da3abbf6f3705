// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func TestUpdate(t *testing.T) {
	instance := testInstance()
	instance.Spec.Parameters = map[string]string{"a": "1", "b": "2"}
	f := newFixture(t, instance, testVersion())
	if err := f.kudo(t, "update", "--instance", "kv", "-p", "b=3", "--wait"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Instance kv was updated.\nNo plan was started, as nothing changed that one depends on.\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
	stored, err := f.client.KudoV1beta1().Instances("default").Get(t.Context(), "kv", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "3"}, stored.Spec.Parameters); diff != "" {
		t.Error(diff)
	}
	if err := f.kudo(t, "update", "--instance", "kv"); err == nil || !strings.HasPrefix(err.Error(), "need to specify at least one parameter") {
		t.Errorf("got %v", err)
	}
}

func TestUpdateWaits(t *testing.T) {
	instance := testInstance()
	instance.Spec.PlanExecution = v1beta1.InstancePlanExecution{PlanName: "deploy", UID: "new"}
	f := newFixture(t, instance, testVersion(), testRun("old", v1beta1.ExecutionFatalError))
	f.finish(t, testRun("new", v1beta1.ExecutionInProgress), testRun("new", v1beta1.ExecutionComplete))
	if err := f.kudo(t, "update", "--instance", "kv", "-p", "b=3", "--wait"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Instance kv was updated.\ninstance default/kv ready\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestUpgrade(t *testing.T) {
	next := t.TempDir()
	write := func(operator string) {
		t.Helper()
		for name, text := range map[string]string{"operator.yaml": operator, "params.yaml": ""} {
			if err := os.WriteFile(filepath.Join(next, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct{ name, operator, want string }{
		{"newer", "name: kv\noperatorVersion: 0.2.0\n", ""},
		{"same", "name: kv\noperatorVersion: 0.1.0\n", "upgraded version 0.1.0 is the same or smaller as current version 0.1.0 -> not upgrading"},
		{"another operator", "name: zk\noperatorVersion: 0.2.0\n", "the instance runs the operator kv, but the package is of zk"},
		{"no version", "name: kv\noperatorVersion: new\n", `operatorVersion "new" of the package is not a semantic version`},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(test.operator)
			f := newFixture(t, testInstance(), testVersion())
			err := f.kudo(t, "upgrade", next, "--instance", "kv", "-p", "a=1")
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("operator default/kv created\noperatorversion default/kv-0.2.0 created\ninstance default/kv updated\n", f.out.String()); diff != "" {
				t.Error(diff)
			}
			stored, err := f.client.KudoV1beta1().Instances("default").Get(t.Context(), "kv", metav1.GetOptions{})
			if err != nil || stored.Spec.OperatorVersion.Name != "kv-0.2.0" || stored.Spec.Parameters["a"] != "1" {
				t.Errorf("got %+v, %v", stored, err)
			}
		})
	}
}

func TestUninstall(t *testing.T) {
	f := newFixture(t, testInstance())
	if err := f.kudo(t, "uninstall", "--instance", "kv", "--wait"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("instance.kudo.dev/v1beta1/kv deleted\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
	if err := f.kudo(t, "uninstall", "--instance", "kv"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestUninstallWaits(t *testing.T) {
	f := newFixture(t, testInstance())
	c, err := f.connect()
	if err != nil {
		t.Fatal(err)
	}
	u := &uninstall{environment: f.environment, instance: "kv", waitTime: 1}
	if err := u.waitUntilGone(t.Context(), c, ""); err == nil || !strings.Contains(err.Error(), "it still exists after 1s") {
		t.Errorf("got %v", err)
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		_ = f.client.KudoV1beta1().Instances("default").Delete(context.Background(), "kv", metav1.DeleteOptions{})
	}()
	u.waitTime = 10
	if err := u.waitUntilGone(t.Context(), c, ""); err != nil {
		t.Error(err)
	}
}

func TestUninstallEndsWhenCleanupFails(t *testing.T) {
	instance := testInstance()
	instance.DeletionTimestamp, instance.Finalizers = at("11:00:00"), []string{"kudo.dev.instance.cleanup"}
	instance.Status.PlanStatus = map[string]v1beta1.PlanStatus{"cleanup": {Status: v1beta1.ExecutionFatalError, Phases: []v1beta1.PhaseStatus{
		{Name: "p", Steps: []v1beta1.StepStatus{{Name: "s", Status: v1beta1.ExecutionFatalError, Message: "volume is in use"}}}}}}
	f := newFixture(t, instance)
	c, err := f.connect()
	if err != nil {
		t.Fatal(err)
	}
	u := &uninstall{environment: f.environment, instance: "kv", waitTime: 10}
	if err := u.waitUntilGone(t.Context(), c, ""); err == nil || !strings.Contains(err.Error(), "its cleanup plan failed: step p.s: volume is in use") ||
		!strings.Contains(err.Error(), "kubectl kudo plan trigger -n default --instance kv --name cleanup; or do without it by removing the finalizer kudo.dev.instance.cleanup") {
		t.Errorf("got %v", err)
	}
}

// TestUninstallWithCleanup: without --wait the command says that the Instance is still there, and why.
func TestUninstallWithCleanup(t *testing.T) {
	instance := testInstance()
	instance.DeletionTimestamp, instance.Finalizers = at("11:00:00"), []string{v1beta1.CleanupFinalizer}
	f := newFixture(t, instance)
	f.client.PrependReactor("delete", "instances", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	if err := f.kudo(t, "uninstall", "--instance", "kv"); err != nil {
		t.Fatal(err)
	}
	want := "instance.kudo.dev/v1beta1/kv deleted\nits plan cleanup runs first; see: kubectl kudo plan status -n default --instance kv --wait\n"
	if diff := cmp.Diff(want, f.out.String()); diff != "" {
		t.Error(diff)
	}
	instance.Status.PlanStatus = map[string]v1beta1.PlanStatus{"cleanup": {Status: v1beta1.ExecutionFatalError, Message: `cancelled by "alice"`, Phases: []v1beta1.PhaseStatus{
		{Name: "p", Steps: []v1beta1.StepStatus{{Name: "s", Status: v1beta1.ExecutionFatalError, Message: "waits for a pod"}}}}}}
	if err := f.client.Tracker().Update(v1beta1.SchemeGroupVersion.WithResource("instances"), instance, "default"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--wait"}} {
		err := f.kudo(t, append([]string{"uninstall", "--instance", "kv"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), `its cleanup plan failed: cancelled by "alice"; correct`) {
			t.Errorf("%v: got %v", args, err)
		}
	}
}
