// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"fmt"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

// ask is a merge patch of spec.planExecution, as the clients of KUDO send it.
func ask(planExecution string) send { return patch(`{"spec":{"planExecution":` + planExecution + `}}`) }

// theSame asks for the plan of the run that holds the Instance, or ended last, with the uid, in which %s is that of the run.
func theSame(uid string) send {
	return func(s *scene) harness.Request {
		plan := ""
		if run := s.before.Runs[s.run]; run != nil {
			plan = harness.Field(run, "spec", "planName")
			if uid == "%s" {
				return ask(fmt.Sprintf(`{"planName":%q,"uid":%q}`, plan, run.GetUID()))(s)
			}
		}
		return ask(fmt.Sprintf(`{"planName":%q,"uid":%q}`, plan, uid))(s)
	}
}

// TestPlanName: a client may start a plan by writing the lock, as that of KUDO does, but can neither free an Instance by it nor
// write anything else of it.
func TestPlanName(t *testing.T) {
	t.Parallel()
	blank := func() columns {
		return always(nothing()).but(refused(http.StatusConflict, "cannot be emptied", `PlanExecution "{run}"`, `started by "{by}"`, "plan cancel", "{run}/cancel"),
			deploying, backingUp, updating, held, deleting)
	}
	forbidden := func(plan string) answer {
		return refused(http.StatusForbidden, `"alice" may not run plan "`+plan+`"`, `"trigger:`+plan+`"`, "instances/plans")
	}
	manual := func(plan string) answer { return runs(plan, "Manual") }
	unknown := invalid("spec.planExecution.planName", "supported values", `"backup"`, `"deploy"`)
	check(t, []row{
		{"a plan", ask(`{"planName":"restore"}`),
			always(manual("restore")).but(waits, deploying, backingUp, updating, deleting).but(nothing(), held).but(tooLate, cleanupFailed).but(noVersion, versionGone)},
		{"a plan and a new uid", ask(`{"planName":"restore","uid":"mine"}`),
			always(manual("restore")).but(waits, deploying, backingUp, updating, deleting).but(restarts("restore", "Manual"), held).but(tooLate, cleanupFailed).but(noVersion, versionGone)},
		{"the same plan and a new uid", theSame("mine"),
			always(manual("deploy")).but(restarts("deploy", "Manual"), deploying).but(restarts("backup", "Manual"), backingUp).
				but(restarts("update", "Manual"), updating).but(restarts("restore", "Manual"), held).
				but(restarts("cleanup", "Manual"), deleting).but(manual("cleanup"), cleanupFailed).but(noVersion, versionGone)},
		{"the same plan and no uid", theSame(""),
			always(manual("deploy")).but(nothing(), deploying, backingUp, updating, held, deleting).but(manual("cleanup"), cleanupFailed).but(noVersion, versionGone)},
		{"the same plan and its uid", theSame("%s"), always(nothing())},
		{"an unknown plan", ask(`{"planName":"nosuch","uid":"mine"}`),
			always(unknown).but(noVersion, versionGone)},
		{"a plan and a parameter", patch(`{"spec":{"planExecution":{"planName":"restore","uid":"mine"},"parameters":{"SIZE":"2"}}}`),
			always(invalid("spec.planExecution.planName", "send two")).but(tooLate, dying...).but(noVersion, versionGone)},
		{"cleanup", ask(`{"planName":"cleanup"}`),
			always(byDelete).but(unknown, plain).but(nothing(), deleting).but(manual("cleanup"), cleanupFailed).but(noVersion, versionGone)},
		{"a plan without the right to it", ask(`{"planName":"restore","uid":"mine"}`).as(alice),
			always(forbidden("restore")).but(noVersion, versionGone)},
		{"cleanup without the right to it", ask(`{"planName":"cleanup"}`).as(alice),
			always(byDelete).but(unknown, plain).but(nothing(), deleting).but(forbidden("cleanup"), cleanupFailed).but(noVersion, versionGone)},
		{"an empty plan", ask(`{"planName":""}`), blank()},
		{"no plan and no uid", ask(`{"planName":"","uid":"","status":""}`), blank()},
		{"null", ask(`null`), blank()},
		{"no plan, and a parameter", patch(`{"spec":{"planExecution":null,"parameters":{"PRESET":"a"}}}`), blank()},
		{"PUT without it", put(func(i *unstructured.Unstructured) { unstructured.RemoveNestedField(i.Object, "spec", "planExecution") }), blank()},
		{"PUT with an empty one", put(func(i *unstructured.Unstructured) {
			_ = unstructured.SetNestedMap(i.Object, map[string]any{}, "spec", "planExecution")
		}), blank()},
		{"a status", ask(`{"status":"COMPLETE"}`), always(nothing())},
		{"a template", ask(`{"template":{"name":"mine","labels":{"a":"b"},"spec":{"instanceName":"x","planName":"backup","requestedBy":{"username":"root"}}}}`), always(nothing())},
	})
}

func TestPlanNameSpecials(t *testing.T) {
	t.Parallel()
	ns := newTown(t)
	env.Grant(t, ns, alice, "trigger:restore instances/plans")
	checkSingle(t, ns, []single{
		{"with the right to this plan alone", stateOf(idle), ask(`{"planName":"restore","uid":"mine"}`).as(alice), runs("restore", "Manual")},
		{"with the right to another plan alone", stateOf(idle), ask(`{"planName":"backup","uid":"mine"}`).as(alice),
			refused(http.StatusForbidden, `"alice" may not run plan "backup"`)},
		{"what the client makes up of the run is not taken", stateOf(idle),
			ask(`{"planName":"restore","uid":"mine","status":"COMPLETE","template":{"name":"mine","spec":{"instanceName":"x","planName":"backup","trigger":"Cleanup","requestedBy":{"username":"root"}}}}`),
			runs("restore", "Manual")},
		{"a uid alone, when no run has it", stateOf(idle), ask(`{"uid":"mine"}`), nothing()},
		{"a uid alone, in place of that of the run", stateOf(backingUp), ask(`{"uid":"mine"}`), restarts("backup", "Manual")},
	})
}
