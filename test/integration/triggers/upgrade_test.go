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

// following are the parameters of a next version: one more, and PRESET is gone.
var following = strings.Replace(parameters, "  - {name: PRESET, default: none}\n", "  - {name: BROUGHT, trigger: backup, default: none}\n", 1)

// to changes the OperatorVersion, and what is in the rest of the spec, which may be empty.
func to(version, rest string) send {
	return patch(fmt.Sprintf(`{"spec":{"operatorVersion":{"name":%q}%s}}`, version, rest))
}

// TestUpgrade: an upgrade waits for every run, of whatever plan.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	away := env.Namespace(t)
	env.Create(t, away, "operatorversions", version("one", allPlans, parameters))
	env.Grant(t, away, bob, "get operatorversions")
	// starting is the column of upgrades that are in order.
	starting := func(a answer) columns { return always(a).but(waits, busy...).but(tooLate, dying...) }
	// wrong is the column of those that are not.
	wrong := func(a answer) columns { return always(a).but(tooLate, dying...) }
	upgrade := runs("upgrade", "Upgrade").leaves("[kudo.dev.instance.cleanup]", "metadata", "finalizers")
	kept := func(values string) answer { return upgrade.leaves("map["+values+"]", "spec", "parameters") }
	elsewhere := patch(fmt.Sprintf(`{"spec":{"operatorVersion":{"name":"one","namespace":%q}}}`, away))
	check(t, []row{
		{"to the next version", to("next", ""), starting(kept("FIXED:once"))},
		{"by somebody who may not start plans by name", to("next", "").as(alice), starting(upgrade)},
		{"back to an older version, without upgrade and cleanup", to("older", ""),
			starting(runs("deploy", "Upgrade").leaves("", "metadata", "finalizers"))},
		{"to the same name in another namespace", elsewhere, starting(upgrade)},
		{"to a namespace whose versions the user may not read", elsewhere.as(alice),
			wrong(refused(http.StatusForbidden, "may not refer to an OperatorVersion of namespace", `"get" on operatorversions`))},
		{"to a version that does not exist", to("nosuch", ""), wrong(noVersion)},
		{"with a parameter of deploy", to("next", `,"parameters":{"WHOLE":"x"}`), starting(kept("FIXED:once WHOLE:x"))},
		{"with a parameter that it brings", to("next", `,"parameters":{"BROUGHT":"x"}`), starting(kept("BROUGHT:x FIXED:once"))},
		{"with a parameter of update", to("next", `,"parameters":{"SIZE":"2"}`), wrong(invalid("spec.parameters", "SIZE", `"update"`, "upgrade first"))},
		{"with a parameter of backup", to("next", `,"parameters":{"FILE":"x"}`), wrong(invalid("spec.parameters", "FILE", `"backup"`, "upgrade first"))},
		{"with a new value of a parameter that goes", to("next", `,"parameters":{"PRESET":"b"}`), wrong(invalid("spec.parameters[PRESET]", "supported values", "SIZE"))},
		{"with a change of an immutable parameter", to("next", `,"parameters":{"FIXED":"twice"}`), wrong(invalid("spec.parameters[FIXED]", "immutable", `"once"`))},
		{"without an immutable parameter", to("next", `,"parameters":{"FIXED":null}`), wrong(invalid("spec.parameters[FIXED]", "immutable", `"once"`))},
		{"with a plan", to("next", `,"planExecution":{"planName":"restore","uid":"mine"}`),
			wrong(invalid("spec.planExecution.planName", "send two"))},
		{"with the plan that runs", func(s *scene) harness.Request { // as a client does that sends back what it has read
			return to("next", fmt.Sprintf(`,"planExecution":{"planName":%q,"uid":%q}`, s.field("spec", "planExecution", "planName"), s.field("spec", "planExecution", "uid")))(s)
		}, starting(upgrade)},
		{"other fields of the reference", func(s *scene) harness.Request {
			return patch(fmt.Sprintf(`{"spec":{"operatorVersion":{"kind":"OperatorVersion","apiVersion":"kudo.dev/v1beta1","uid":"x","namespace":%q}}}`, s.ns))(s)
		}, always(changes())},
	}, version("next", allPlans, following), version("older", "deploy", parameters))
}

func TestUpgradeSpecials(t *testing.T) {
	t.Parallel()
	const fixes = `[{name: SIZE, immutable: true}, {name: PRESET, immutable: true}]`
	ns := newTown(t,
		version("small", "deploy cleanup", `[{name: SIZE}, {name: PRESET}]`),
		version("with-update", "deploy update", "[]"),
		version("no-plan", "backup", "[]"),
		version("only-update", "update", "[]"),
		version("fixes", "deploy", fixes),
		version("brings", "deploy", `[{name: SIZE}, {name: PRESET}, {name: NEW, immutable: true, default: fresh}]`),
		version("needs", "deploy", `[{name: SIZE}, {name: PRESET}, {name: NEED, required: true, description: what it is for}]`),
		version("integers", "deploy", `[{name: PRESET, value-type: integer}]`))
	small := deployedAs("small")
	fixed := func(s *scene) {
		small(s)
		env.Expect(s.T, http.StatusOK, to("fixes", `,"parameters":{"SIZE":"1"}`)(s))
		s.deploy, s.run = "", harness.Field(env.Get(s.T, s.ns, "instances", s.name), "spec", "planExecution", "template", "name")
		s.report(s.run, "COMPLETE")
	}
	upgrade := runs("deploy", "Upgrade")
	checkSingle(t, ns, []single{
		{"without upgrade", small, to("with-update", ""), runs("update", "Upgrade")},
		{"without upgrade, update and deploy", small, to("no-plan", ""), invalid("spec.operatorVersion", "upgrade", "update", "deploy", "no-plan", "backup")},
		{"without deploy", small, to("only-update", ""), runs("update", "Upgrade")},
		{"a parameter becomes immutable and has no value", small, to("fixes", ""), invalid("spec.parameters[SIZE]", "makes the parameter immutable")},
		{"a parameter becomes immutable and gets a value", small, to("fixes", `,"parameters":{"SIZE":"1"}`), upgrade.leaves("map[PRESET:a SIZE:1]", "spec", "parameters")},
		{"an immutable parameter is added", small, to("brings", ""), invalid("spec.parameters[NEW]", "brings the parameter", `the default is "fresh"`)},
		{"an immutable parameter is added and gets a value", small, to("brings", `,"parameters":{"NEW":"x"}`), upgrade.leaves("x", "spec", "parameters", "NEW")},
		{"a required parameter is added", small, to("needs", ""), invalid("spec.parameters[NEED]", "requires a value", "what it is for")},
		{"a required parameter is added and gets a value", small, to("needs", `,"parameters":{"NEED":"x"}`), upgrade},
		{"a value does not fit any more", small, to("integers", ""), invalid("spec.parameters[PRESET]", "integer")},
		{"a parameter stops to be immutable", fixed, to("small", ""), upgrade.leaves("map[PRESET:a SIZE:1]", "spec", "parameters")},
		{"the finalizer comes", deployedAs("with-update"), to("small", ""), upgrade.leaves("[kudo.dev.instance.cleanup]", "metadata", "finalizers")},
		{"the finalizer goes", small, to("with-update", ""), runs("update", "Upgrade").leaves("", "metadata", "finalizers")},
		{"finalizers of others stay", func(s *scene) {
			small(s)
			env.Expect(s.T, http.StatusOK, patch(`{"metadata":{"finalizers":["example.com/mine","kudo.dev.instance.cleanup"]}}`)(s))
		}, to("with-update", ""), runs("update", "Upgrade").leaves("[example.com/mine]", "metadata", "finalizers")},
	})
}
