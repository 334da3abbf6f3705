// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func (f *fixture) create(t *testing.T, args ...string) error {
	t.Helper()
	command := createPlanExecutionCommand(f.environment)
	command.SetArgs(args)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return command.ExecuteContext(ctx)
}

func TestCreatePlanExecution(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"plain", []string{"backup-1"}, "planexecution.kudo.dev/backup-1 created\n"},
		{"client dry run", []string{"backup-1", "--dry-run=client"}, "planexecution.kudo.dev/backup-1 created (dry run)\n"},
		{"server dry run", []string{"backup-1", "--dry-run=server"}, "planexecution.kudo.dev/backup-1 created (server dry run)\n"},
		{"name", []string{"backup-1", "-o", "name"}, "planexecution.kudo.dev/backup-1\n"},
		{"yaml", []string{"--dry-run=client", "-o", "yaml", "--parameter", "a=b=c"},
			"apiVersion: kudo.dev/v1beta1\nkind: PlanExecution\nmetadata:\n  generateName: kv-backup-\n  namespace: default\nspec:\n  instanceName: kv\n  operatorVersion: {}\n  parameters:\n    a: b=c\n  planName: backup\nstatus: {}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, testInstance())
			if err := f.create(t, append([]string{"--instance=kv", "--plan=backup"}, test.args...)...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, f.out.String()); diff != "" {
				t.Error(diff)
			}
			for _, action := range f.client.Actions() {
				if create, ok := action.(clienttesting.CreateActionImpl); ok {
					if create.CreateOptions.FieldManager != "kubectl-create" || (len(create.CreateOptions.DryRun) > 0) != strings.Contains(test.name, "server") {
						t.Errorf("options: %+v", create.CreateOptions)
					}
					if strings.Contains(strings.Join(test.args, " "), "client") {
						t.Error("a client dry run created something")
					}
				}
			}
		})
	}
}

func TestCreatePlanExecutionErrors(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--plan=backup"}, `required flag(s) "instance" not set`},
		{[]string{"--instance=kv", "--plan=backup", "--dry-run=maybe"}, "invalid dry-run value (maybe)"},
		{[]string{"--instance=kv", "--plan=backup", "--dry-run=client", "--wait"}, "--wait cannot be combined with --dry-run"},
		{[]string{"--instance=kv", "--plan=backup", "--parameter", "x"}, "parameter not set: x"},
		{[]string{"--instance=kv", "--plan=backup", "-o", "csv"}, "unable to match a printer"},
		{[]string{"a", "b", "--instance=kv", "--plan=backup"}, "accepts at most 1 arg(s)"},
	} {
		if err := newFixture(t).create(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v", test.args, err)
		}
	}
}

func TestCreatePlanExecutionWaits(t *testing.T) {
	f := newFixture(t, testInstance(), testVersion())
	// The server has the run ended before the command watches it.
	f.client.PrependReactor("create", "planexecutions", func(action clienttesting.Action) (bool, runtime.Object, error) {
		run := action.(clienttesting.CreateAction).GetObject().(*v1beta1.PlanExecution)
		run.UID, run.Status.Status = "u", v1beta1.ExecutionComplete
		return false, nil, nil
	})
	if err := f.create(t, "backup-1", "--instance=kv", "--plan=backup", "--wait"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("planexecution.kudo.dev/backup-1 created\nplanexecution.kudo.dev/backup-1 complete\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTrigger(t *testing.T) {
	f := newFixture(t, testInstance(), testVersion())
	var asked *v1beta1.PlanTrigger
	f.client.PrependReactor("create", "instances", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "plans" {
			return false, nil, nil
		}
		asked = action.(clienttesting.CreateAction).GetObject().(*v1beta1.PlanTrigger)
		return true, testRun("u", v1beta1.ExecutionPending), nil
	})
	if err := f.kudo(t, "plan", "trigger", "--instance", "kv", "--name", "backup", "-p", "a=b"); err != nil {
		t.Fatal(err)
	}
	if asked == nil || asked.PlanName != "backup" || asked.Parameters["a"] != "b" {
		t.Errorf("asked for %+v", asked)
	}
	if diff := cmp.Diff("Triggered backup plan for default/kv instance\nplanexecution.kudo.dev/kv-deploy-u created\n", f.out.String()); diff != "" {
		t.Error(diff)
	}
}
