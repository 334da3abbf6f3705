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

// way is one of the three to start a plan by name.
type way struct {
	name string
	// request starts the plan with the rest of a body, which may be empty.
	request func(plan, rest string) send
	// noInstance is the answer if there is none; field is at fault if its OperatorVersion is gone, in all three.
	noInstance answer
}

var ways = []way{
	{"plans/P:trigger", func(plan, rest string) send {
		return func(s *scene) harness.Request {
			return harness.Request{Method: http.MethodPost, Path: s.path("plans", plan+":trigger"), Body: "{" + rest + "}"}
		}
	}, missing},
	{"plans", func(plan, rest string) send {
		return func(s *scene) harness.Request {
			return harness.Request{Method: http.MethodPost, Path: s.path("plans"),
				Body: fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: PlanTrigger, planName: %s, %s}", plan, rest)}
		}
	}, missing},
	{"planexecutions", func(plan, rest string) send {
		return func(s *scene) harness.Request {
			return harness.Request{Method: http.MethodPost, Path: harness.Path(s.ns, "planexecutions"),
				Body: fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: PlanExecution, metadata: {generateName: mine-}, spec: {instanceName: %s, planName: %s, %s}}", s.name, plan, rest)}
		}
	}, invalid("spec.instanceName", "Not found")},
}

// TestTrigger: a plan that is started by name waits for every run, one of itself, too.
func TestTrigger(t *testing.T) {
	t.Parallel()
	unknown := invalid("spec.planName", "supported values", `"backup"`, `"deploy"`)
	gone := invalid("spec.instanceName", "OperatorVersion", "does not exist", "create it")
	for _, w := range ways {
		// starting is the column of requests that are in order.
		starting := func(plan string) columns {
			return always(created(plan, "Manual")).but(w.noInstance, absent).but(waits, busy...).but(waits, deleting).but(tooLate, cleanupFailed).but(gone, versionGone)
		}
		// wrong is the column of those that are not.
		wrong := func(field string, words ...string) columns {
			return always(invalid(field, words...)).but(w.noInstance, absent).but(gone, versionGone)
		}
		forbidden := func(plan string) columns {
			a := refused(http.StatusForbidden, `"alice" may not run plan "`+plan+`"`, `"trigger:`+plan+`"`, "instances/plans")
			return always(a).but(a, absent)
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			check(t, []row{
				{"restore", w.request("restore", ""), starting("restore")},
				{"backup", w.request("backup", ""), starting("backup")},
				{"deploy", w.request("deploy", ""), starting("deploy")},
				{"update", w.request("update", ""), starting("update")},
				{"cleanup", w.request("cleanup", ""),
					wrong("spec.planName", `"cleanup" starts when the Instance is deleted`, "delete the Instance").
						but(unknown, plain).but(waits, deleting).but(created("cleanup", "Manual"), cleanupFailed)},
				{"an unknown plan", w.request("nosuch", ""), wrong("spec.planName", unknown.words...)},
				{"without the right", w.request("restore", "").as(alice), forbidden("restore")},
				{"cleanup without the right", w.request("cleanup", "").as(alice), forbidden("cleanup")},
				{"an unknown plan without the right", w.request("nosuch", "").as(alice), forbidden("nosuch")},
				{"with parameters", w.request("restore", "parameters: {COUNT: '5', FIXED: once}"), starting("restore")},
				{"with an unknown parameter", w.request("restore", "parameters: {NOPE: x}"), wrong("spec.parameters[NOPE]", "supported values", `"COUNT"`)},
				{"with a value of another type", w.request("restore", "parameters: {COUNT: many}"), wrong("spec.parameters[COUNT]", "integer", "many")},
				{"with another immutable value", w.request("restore", "parameters: {FIXED: twice}"), wrong("spec.parameters[FIXED]", "immutable")},
			})
		})
	}
}

func TestTriggerSpecials(t *testing.T) {
	t.Parallel()
	ns := newTown(t, version("needy", "deploy backup", `[{name: NEED, required: true}]`))
	env.Grant(t, ns, alice, "trigger:backup instances/plans")
	needy := func(s *scene) {
		s.version = "needy"
		i := env.Create(s.T, s.ns, "instances", strings.Replace(instance(s.name, s.version), "STALE:", "NEED:", 1))
		s.run = i.Field(s.T, "spec", "planExecution", "template", "name")
		s.report(s.run, "COMPLETE")
	}
	for _, w := range ways {
		given := created("backup", "Manual").and(func(s *scene, r harness.Response) {
			if got := r.Field(s.T, "spec", "parameters"); got != "map[COUNT:5]" {
				s.Errorf("the parameters of the run are %s", got)
			}
			if got := harness.Field(s.after.Instance, "spec", "parameters"); got != "map[FIXED:once PRESET:a STALE:x]" {
				s.Errorf("the parameters of the Instance are %s", got)
			}
		})
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			checkSingle(t, ns, []single{
				{"parameters are those of the run", deployed, w.request("backup", "parameters: {COUNT: '5'}"), given},
				{"with the right to this plan alone", deployed, w.request("backup", "").as(alice), created("backup", "Manual")},
				{"with the right to another plan alone", deployed, w.request("restore", "").as(alice), refused(http.StatusForbidden, `"alice" may not run plan "restore"`)},
				{"a required parameter is emptied for the run", needy, w.request("backup", "parameters: {NEED: ''}"), invalid("spec.parameters[NEED]", "requires a value")},
			})
		})
	}
}
