// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// testHistory are three runs of the Instance kv: one that completed, a backup that was superseded, and the one that runs.
func testHistory() (done, ended, running *v1beta1.PlanExecution) {
	done, ended, running = testRun("1", v1beta1.ExecutionComplete), testRun("2", v1beta1.ExecutionFatalError), testRun("3", v1beta1.ExecutionInProgress)
	done.Status.CompletionTime = at("10:00:31")
	done.Spec.RequestedBy, done.Spec.Trigger = &v1beta1.RequestedBy{Username: "alice"}, v1beta1.TriggerCreate
	ended.Name, ended.Spec.PlanName = "monday", "backup"
	ended.CreationTimestamp, ended.Status.StartTime, ended.Status.CompletionTime = *at("11:00:00"), at("11:00:01"), at("11:05:01")
	ended.Spec.RequestedBy, ended.Spec.Trigger = &v1beta1.RequestedBy{Username: "bob"}, v1beta1.TriggerManual
	ended.Status.Message = `superseded by PlanExecution "kv-deploy-3", started by "alice": its parameters were changed`
	running.CreationTimestamp, running.Status.StartTime = *at("11:05:01"), at("11:05:02")
	running.Spec.RequestedBy, running.Spec.Trigger = &v1beta1.RequestedBy{Username: "alice"}, v1beta1.TriggerParameterChange
	return done, ended, running
}

// trailing are the spaces that the last column leaves.
var trailing = regexp.MustCompile(` +\n`)

func TestHistory(t *testing.T) {
	done, ended, running := testHistory()
	pending := testRun("4", "")
	pending.CreationTimestamp, pending.Status.StartTime = *at("11:06:00"), nil
	other := testRun("other", v1beta1.ExecutionComplete)
	other.Spec.InstanceName = "another"
	for _, test := range []struct{ name, plan, want string }{
		{"all", "", `NAME          PLAN     STATUS        STARTED               DURATION   REQUESTED BY   TRIGGER           MESSAGE
kv-deploy-4   deploy   PENDING
kv-deploy-3   deploy   IN_PROGRESS   2026-11-20 11:05:02   60s        alice          ParameterChange
monday        backup   FATAL_ERROR   2026-11-20 11:00:01   5m         bob            Manual            superseded by PlanExecution "kv-deploy-3", started by "alice": its parameters were changed
kv-deploy-1   deploy   COMPLETE      2026-11-20 10:00:01   30s        alice          Create
`},
		{"of a plan", "backup", `NAME     PLAN     STATUS        STARTED               DURATION   REQUESTED BY   TRIGGER   MESSAGE
monday   backup   FATAL_ERROR   2026-11-20 11:00:01   5m         bob            Manual    superseded by PlanExecution "kv-deploy-3", started by "alice": its parameters were changed
`},
		{"of a plan that never ran", "restore", "Plan restore of instance default/kv has not run\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, testInstance(), done, ended, running, pending, other)
			h := &history{environment: f.environment, instance: "kv", plan: test.plan, now: func() time.Time { return at("11:06:02").Time }}
			if err := h.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, trailing.ReplaceAllString(f.out.String(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}

	f := newFixture(t, testInstance())
	if err := f.kudo(t, "plan", "history", "--instance", "kv"); err != nil || f.out.String() != "No plan of instance default/kv has run\n" {
		t.Errorf("got %v, %q", err, f.out.String())
	}
	if err := f.kudo(t, "plan", "history", "--instance", "nosuch"); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := f.kudo(t, "plan", "history"); err == nil {
		t.Error("no error without --instance")
	}
}
