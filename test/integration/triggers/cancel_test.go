// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// cancel asks for the end of the run that holds the Instance, or ended last.
func cancel(body string) send {
	return func(s *scene) harness.Request {
		run := s.run
		if run == "" {
			run = "none-of-" + s.name
		}
		return harness.Request{Method: http.MethodPost, Path: harness.Path(s.ns, "planexecutions", run, "cancel"), Body: body}
	}
}

// TestCancel: a run that is under way ends at once, also one that is suspended, and the Instance is free with the answer.
func TestCancel(t *testing.T) {
	t.Parallel()
	cancelled := func(words ...string) answer {
		return answer{code: http.StatusCreated, effect: func(s *scene, r harness.Response) {
			s.Helper()
			run := s.after.Runs[s.run]
			s.checkEnded(run, "Cancelled", append(words, "cancelled by "+fmt.Sprintf("%q", s.request.User))...)
			s.same("the run since the answer", r.Object(s.T).Object, run.Object)
			plan := s.field("spec", "planExecution", "planName")
			for path, want := range map[string]string{
				"spec.planExecution.uid":                "",
				"spec.planExecution.planName":           "",
				"spec.parameters":                       s.field("spec", "parameters"),
				"status.planStatus." + plan + ".uid":    string(run.GetUID()),
				"status.planStatus." + plan + ".status": "FATAL_ERROR",
			} {
				if got := harness.Field(s.after.Instance, strings.Split(path, ".")...); got != want {
					s.Errorf("%s of the Instance is %q, want %q", path, got, want)
				}
			}
			if len(s.after.Runs) != len(s.before.Runs) {
				s.Errorf("there were %d runs and are %d", len(s.before.Runs), len(s.after.Runs))
			}
		}}
	}
	over := refused(http.StatusConflict, "has ended with", "cannot be cancelled")
	const body = "{apiVersion: kudo.dev/v1beta1, kind: PlanExecutionCancel, message: the disk is full}"
	forbidden := refused(http.StatusForbidden, `"alice" cannot create resource "planexecutions/cancel"`)
	tooLong := invalid("message", "Too long", "1024")
	check(t, []row{
		{"with a reason", cancel(body), always(over).but(missing, absent).but(cancelled(": the disk is full"), append(busy, deleting)...)},
		{"without a reason", cancel("{}"), always(over).but(missing, absent).but(cancelled(), append(busy, deleting)...)},
		{"without the right", cancel(body).as(alice), always(forbidden).but(forbidden, absent)},
		{"with a reason that is too long", cancel("{message: " + strings.Repeat("x", 1025) + "}"), always(tooLong).but(tooLong, absent)},
	})
}
