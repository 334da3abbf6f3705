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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

var (
	first    = filepath.Join("..", "artifacts", "operators", "first-operator")
	keyvalue = filepath.Join("..", "artifacts", "operators", "keyvalue")
)

func TestInstall(t *testing.T) {
	f := newFixture(t)
	if err := f.kudo(t, "install", first, "--instance", "web", "-p", "replicas=3"); err != nil {
		t.Fatal(err)
	}
	want := "operator default/first-operator created\noperatorversion default/first-operator-1.27.0-0.1.0 created\ninstance default/web created\n"
	if diff := cmp.Diff(want, f.out.String()); diff != "" {
		t.Error(diff)
	}
	instance, err := f.client.KudoV1beta1().Instances("default").Get(context.Background(), "web", metav1.GetOptions{})
	if err != nil || instance.Spec.Parameters["replicas"] != "3" || instance.Spec.OperatorVersion.Name != "first-operator-1.27.0-0.1.0" {
		t.Errorf("got %+v, %v", instance, err)
	}

	f.out.Reset()
	if err := f.kudo(t, "install", first, "--skip-instance"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("operatorversion default/first-operator-1.27.0-0.1.0 already installed\n", f.out.String()); diff != "" {
		t.Error(diff)
	}

	f.out.Reset()
	err = f.kudo(t, "install", first, "--instance", "web")
	if err == nil || !strings.Contains(err.Error(), "cannot install instance 'web' because an instance of that name already exists in namespace default; choose another name with --instance") {
		t.Errorf("got %v", err)
	}
}

func TestInstallChecksFirst(t *testing.T) {
	child := t.TempDir()
	for name, text := range map[string]string{
		"operator.yaml": "name: p\noperatorVersion: 0.1.0\nkubernetesVersion: 1.25.0\ntasks: [{name: t, kind: KudoOperator, spec: {package: ../child}}]\n",
		"params.yaml":   "",
	} {
		if err := os.WriteFile(filepath.Join(child, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{keyvalue}, "missing required parameters during installation: password"},
		{[]string{first, "-p", "x"}, "could not parse parameters: parameter not set: x"},
		{[]string{"nowhere"}, `there is no operator package at "nowhere"`},
		{[]string{}, "expected one argument"},
		{[]string{child}, `operator.yaml:4: tasks[0] "t": spec.package "../child": there is no operator package at`},
	} {
		f := newFixture(t)
		err := f.kudo(t, append([]string{"install"}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v", test.args, err)
		}
		for _, action := range f.client.Actions() {
			if action.GetVerb() == "create" {
				t.Errorf("%v: it created something: %v", test.args, action)
			}
		}
	}
	// The operator itself needs no parameters.
	if err := newFixture(t).kudo(t, "install", keyvalue, "--skip-instance"); err != nil {
		t.Error(err)
	}
}

// startRuns makes the fake server start a run whenever an Instance is created.
func (f *fixture) startRuns() {
	f.client.PrependReactor("create", "instances", func(action clienttesting.Action) (bool, runtime.Object, error) {
		instance := action.(clienttesting.CreateAction).GetObject().(*v1beta1.Instance)
		instance.Spec.PlanExecution = v1beta1.InstancePlanExecution{PlanName: "deploy", UID: types.UID("new")}
		return false, nil, nil
	})
}

// finish ends the run of the tests as soon as a command watches it.
func (f *fixture) finish(t *testing.T, runs ...*v1beta1.PlanExecution) {
	t.Helper()
	go func() {
		client := f.client.KudoV1beta1().PlanExecutions("default")
		for i, run := range runs {
			time.Sleep(200 * time.Millisecond)
			var err error
			if i == 0 {
				_, err = client.Create(context.Background(), run, metav1.CreateOptions{})
			} else {
				_, err = client.Update(context.Background(), run, metav1.UpdateOptions{})
			}
			if err != nil {
				t.Error(err)
			}
		}
	}()
}

func TestInstallWaits(t *testing.T) {
	pending := func(name string) v1beta1.StepExecutionStatus { return step(name, v1beta1.ExecutionPending, "") }
	running := testRun("new", v1beta1.ExecutionInProgress, step("settings", v1beta1.ExecutionInProgress, "waits for the ConfigMap"), pending("access"), pending("nodes"))
	complete := testRun("new", v1beta1.ExecutionComplete)
	failed := testRun("new", v1beta1.ExecutionFatalError, step("settings", v1beta1.ExecutionComplete, ""), step("access", v1beta1.ExecutionFatalError, "forbidden: secrets"), pending("nodes"))
	for _, test := range []struct {
		name string
		runs []*v1beta1.PlanExecution
		args []string
		want string
	}{
		{"complete", []*v1beta1.PlanExecution{running, complete}, nil, ""},
		{"failed", []*v1beta1.PlanExecution{running, failed}, nil, "plan deploy of instance default/kv failed in step base.access: forbidden: secrets"},
		{"timeout", []*v1beta1.PlanExecution{running}, []string{"--wait-time", "1"}, "timeout waiting for instance default/kv: after 1s plan deploy is at step base.settings: waits for the ConfigMap; it goes on"},
		{"no run", nil, []string{"--wait-time", "1"}, "no run of a plan has begun within 1s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			// A run of an Instance of the same name that existed before must not be mistaken for this one.
			f := newFixture(t, testRun("old", v1beta1.ExecutionComplete))
			f.startRuns()
			f.finish(t, test.runs...)
			err := f.kudo(t, append([]string{"install", first, "--instance", "kv", "--wait"}, test.args...)...)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(f.out.String(), "ready") {
					t.Errorf("got %v\nwant %s\n%s", err, test.want, f.out.String())
				}
				return
			}
			if err != nil || !strings.HasSuffix(f.out.String(), "instance default/kv created\ninstance default/kv ready\n") {
				t.Errorf("got %v\n%s", err, f.out.String())
			}
		})
	}
}
