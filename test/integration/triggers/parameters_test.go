// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"net/http"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestParameters: the plan of a change is that of its parameters. It starts at once, also in place of a run of itself, and never
// beside a run of another plan. What is wrong with a change is said before it is told to wait.
func TestParameters(t *testing.T) {
	t.Parallel()
	// starting is the column of changes that are in order.
	starting := func(plan string) columns {
		return always(runs(plan, "ParameterChange")).but(waits, busy...).but(tooLate, dying...).but(noVersion, versionGone)
	}
	// wrong is the column of those that are not.
	wrong := func(field string, words ...string) columns {
		return always(invalid(field, words...)).but(tooLate, dying...).but(noVersion, versionGone)
	}
	again := func(plan string) answer { return restarts(plan, "ParameterChange") }
	check(t, []row{
		{"without trigger", set(`{"SIZE":"2"}`), starting("update").but(again("update"), updating)},
		{"by somebody who may not start plans by name", set(`{"SIZE":"2"}`).as(alice), starting("update").but(again("update"), updating)},
		{"added and removed", set(`{"SIZE":"2","PRESET":null}`), starting("update").but(again("update"), updating)},
		{"removed", set(`{"PRESET":null}`), starting("update").but(again("update"), updating)},
		{"trigger deploy", set(`{"WHOLE":"x"}`), starting("deploy").but(again("deploy"), deploying)},
		{"trigger backup", set(`{"FILE":"x"}`), starting("backup").but(again("backup"), backingUp)},
		{"trigger restore", set(`{"COPY":"x"}`), starting("restore").but(again("restore"), held)},
		{"one with a trigger and one without", set(`{"FILE":"x","SIZE":"2"}`), starting("backup").but(again("backup"), backingUp)},
		{"by server-side apply", func(s *scene) harness.Request {
			r := apply(s)
			r.Body = post(", parameters: {PRESET: a, STALE: x, SIZE: '2'}")(s).Body
			return r
		}, starting("update").but(created("deploy", "Create"), absent).but(again("update"), updating)},
		{"a value that nothing defines is removed", set(`{"STALE":null}`), always(changes()).but(tooLate, dying...).but(noVersion, versionGone)},
		{"the value that it has", set(`{"PRESET":"a"}`), always(nothing())},
		{"different triggers", set(`{"FILE":"x","COPY":"x"}`), wrong("spec.parameters", "different plans", "backup", "restore", "separate requests")},
		{"a trigger without its plan", set(`{"LOST":"x"}`), wrong("spec.parameters", "nosuch", "backup", "update")},
		{"unknown", set(`{"NOPE":"x"}`), wrong("spec.parameters[NOPE]", "supported values", `"COUNT"`, `"SIZE"`)},
		{"of another type", set(`{"COUNT":"many"}`), wrong("spec.parameters[COUNT]", "integer", "many")},
		{"outside the enum", set(`{"COLOUR":"green"}`), wrong("spec.parameters[COLOUR]", `"red", "blue"`)},
		{"immutable, changed", set(`{"FIXED":"twice"}`), wrong("spec.parameters[FIXED]", "immutable", `"once"`)},
		{"immutable, removed", set(`{"FIXED":null}`), wrong("spec.parameters[FIXED]", "immutable", `"once"`)},
	})
}

// deployedAs is the state of an Instance of the version that nothing is done with.
func deployedAs(version string) func(*scene) {
	return func(s *scene) {
		s.version = version
		deployed(s)
	}
}

// edited is that state with an OperatorVersion whose spec was patched since.
func edited(patch string) func(*scene) {
	return func(s *scene) {
		s.Helper()
		s.version = "edited-" + s.name
		env.Create(s.T, s.ns, "operatorversions", version(s.version, "deploy", `[{name: SIZE, default: "1"}]`))
		deployed(s)
		env.Expect(s.T, http.StatusOK, harness.Request{Method: http.MethodPatch, Path: harness.Path(s.ns, "operatorversions", s.version),
			Type: harness.MergePatch, Body: `{"spec":` + patch + `}`})
	}
}

func TestParametersSpecials(t *testing.T) {
	t.Parallel()
	ns := newTown(t, version("bare", "deploy", parameters))
	const needs = `{"parameters":[{"name":"NEED","required":true},{"name":"SIZE"},{"name":"OFF","immutable":true}]}`
	checkSingle(t, ns, []single{
		{"without trigger and without update", deployedAs("bare"), set(`{"SIZE":"2"}`),
			runs("deploy", "ParameterChange")},
		{"neither update nor deploy", edited(`{"plans":{"deploy":null,"backup":{"phases":[]}}}`), set(`{"SIZE":"2"}`),
			invalid("spec.parameters", "update", "deploy", "backup")},
		{"a required parameter that was added later", edited(needs), set(`{"SIZE":"2"}`),
			invalid("spec.parameters[NEED]", "requires a value")},
		{"an immutable parameter that never had a value", edited(needs), set(`{"NEED":"x","OFF":"x"}`),
			invalid("spec.parameters[OFF]", "immutable")},
		{"the finalizer follows an OperatorVersion that got a cleanup", edited(`{"plans":{"cleanup":{"phases":[]}}}`), set(`{"SIZE":"2"}`),
			runs("deploy", "ParameterChange").leaves("[kudo.dev.instance.cleanup]", "metadata", "finalizers")},
	})
}
