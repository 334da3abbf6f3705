// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// cancels has the cluster answer requests to cancel as the server does, and returns what was asked: name and message.
func (f *fixture) cancels(runs ...*v1beta1.PlanExecution) *[]string {
	var asked []string
	f.client.PrependReactor("create", "planexecutions", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := action.(clienttesting.CreateActionImpl)
		if !ok || create.GetSubresource() != "cancel" {
			return false, nil, nil
		}
		asked = append(asked, create.Name+" "+create.GetObject().(*v1beta1.PlanExecutionCancel).Message)
		for _, run := range runs {
			if run.Name == create.Name {
				run = run.DeepCopy()
				run.Status.Status, run.Status.Message = v1beta1.ExecutionFatalError, `cancelled by "admin"`
				return true, run, nil
			}
		}
		return true, nil, apierrors.NewNotFound(v1beta1.SchemeGroupVersion.WithResource("planexecutions").GroupResource(), create.Name)
	})
	return &asked
}

func TestCancel(t *testing.T) {
	done, ended, running := testHistory()
	locked := testInstance()
	locked.Spec.PlanExecution = v1beta1.InstancePlanExecution{PlanName: "deploy", UID: "3"}
	const answer = "Cancelled deploy plan of default/kv instance\nplanexecution.kudo.dev/kv-deploy-3 cancelled by \"admin\"\n"
	early := locked.DeepCopy()
	early.Spec.PlanExecution.Template = &v1beta1.PlanExecutionTemplate{Name: "kv-deploy-3"}
	early.Spec.PlanExecution.UID = "not listed yet"
	unnamed := locked.DeepCopy()
	unnamed.Spec.PlanExecution.UID = "not listed yet"
	for _, test := range []struct {
		name     string
		instance *v1beta1.Instance
		runs     []*v1beta1.PlanExecution
		args     []string
		asked    []string
		out, err string
	}{
		{name: "what runs", instance: locked, runs: []*v1beta1.PlanExecution{done, ended, running}, asked: []string{"kv-deploy-3 "}, out: answer},
		{name: "with a message", instance: locked, runs: []*v1beta1.PlanExecution{running}, args: []string{"--message", "wrong bucket"}, asked: []string{"kv-deploy-3 wrong bucket"}, out: answer},
		{name: "by name", instance: locked, runs: []*v1beta1.PlanExecution{done, running}, args: []string{"--name", "kv-deploy-3"}, asked: []string{"kv-deploy-3 "}, out: answer},
		{name: "not listed yet", instance: early, runs: []*v1beta1.PlanExecution{running}, asked: []string{"kv-deploy-3 "}, out: answer},
		{name: "not stored yet", instance: unnamed, runs: []*v1beta1.PlanExecution{done}, err: "the run of plan deploy that holds instance default/kv is not stored yet; try again in a moment"},
		{name: "nothing runs", instance: testInstance(), runs: []*v1beta1.PlanExecution{done, ended},
			err: "instance default/kv runs no plan: there is nothing to cancel; the last one, monday, ended with FATAL_ERROR; see: kubectl kudo plan history -n default --instance kv"},
		{name: "nothing ever ran", instance: testInstance(), err: "instance default/kv runs no plan: there is nothing to cancel"},
		{name: "the run of another instance", instance: locked, runs: []*v1beta1.PlanExecution{running}, args: []string{"--name", "zk-deploy-1"},
			err: `instance default/kv has no run named "zk-deploy-1"; see: kubectl kudo plan history -n default --instance kv`},
		{name: "no instance", instance: &v1beta1.Instance{}, err: `instances.kudo.dev "kv" not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects := []runtime.Object{test.instance}
			for _, run := range test.runs {
				objects = append(objects, run)
			}
			f := newFixture(t, objects...)
			asked := f.cancels(done, ended, running)
			err := f.kudo(t, append([]string{"plan", "cancel", "--instance", "kv"}, test.args...)...)
			if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.asked, *asked); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.out, f.out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCancelRefused: what the server answers is what the user sees.
func TestCancelRefused(t *testing.T) {
	done, _, _ := testHistory()
	f := newFixture(t, testInstance(), done)
	f.client.PrependReactor("create", "planexecutions", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(v1beta1.SchemeGroupVersion.WithResource("planexecutions").GroupResource(), done.Name, nil)
	})
	if err := f.kudo(t, "plan", "cancel", "--instance", "kv", "--name", done.Name); !apierrors.IsForbidden(err) || f.out.Len() > 0 {
		t.Errorf("got %v, %q", err, f.out.String())
	}
}

// TestStatusOfACancelledRun: the message of a run that was ended from outside stands behind its plan.
func TestStatusOfACancelledRun(t *testing.T) {
	run := testRun("1", v1beta1.ExecutionFatalError, step("settings", v1beta1.ExecutionComplete, ""), step("access", v1beta1.ExecutionFatalError, "waits for Role kv"), step("nodes", v1beta1.ExecutionPending, ""))
	run.Status.Message = `cancelled by "alice": wrong bucket`
	f := newFixture(t, testInstance(), testVersion(), run)
	if err := f.kudo(t, "plan", "status", "--instance", "kv"); err != nil {
		t.Fatal(err)
	}
	run.Status.Conditions = []metav1.Condition{{Type: v1beta1.FailedConditionType, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonCancelled, Message: run.Status.Message}}
	if err := outcome(run); err == nil || err.Error() != `plan deploy of instance default/kv was cancelled by "alice": wrong bucket` {
		t.Errorf("got %v", err)
	}
	if want := `Plan deploy (serial strategy) [FATAL_ERROR] (cancelled by "alice": wrong bucket)`; !strings.Contains(f.out.String(), want) {
		t.Errorf("want %s in\n%s", want, f.out.String())
	}
}
