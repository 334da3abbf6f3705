// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// strictVersion has one parameter of each sort that a value can violate, and no default to hide behind.
const strictVersion = `
apiVersion: kudo.dev/v1beta1
kind: OperatorVersion
metadata: {name: strict}
spec:
  operator: {name: strict}
  parameters:
  - {name: NEEDED, required: true, description: Where to store it}
  - {name: COUNT, value-type: integer, default: "1"}
  - {name: ACTIVE, value-type: boolean, default: "true"}
  - {name: LIST, value-type: array, default: "[]"}
  - {name: COLOUR, enum: [red, blue], default: red}
  plans: {deploy: {}}
`

func instanceOf(name, version, parameters string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: %q}, spec: {operatorVersion: {name: %s}, parameters: {%s}}}", name, version, parameters)
}

func versionWith(name, spec string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: OperatorVersion, metadata: {name: %s}, spec: {operator: {name: x}, %s}}", name, spec)
}

func runOf(spec string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: PlanExecution, metadata: {name: x}, spec: {%s}}", spec)
}

// TestWrongInput: every mistake is refused with a text that names the field and what is wrong, and nothing is stored.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Create(t, ns, "operatorversions", strictVersion)
	env.Create(t, ns, "operatorversions", versionWith("no-deploy", "plans: {backup: {}}"))
	before := map[string]int{}
	for _, resource := range []string{"instances", "operatorversions", "planexecutions"} {
		before[resource] = len(env.Names(t, harness.Path(ns, resource)))
	}
	for name, tc := range map[string]struct {
		code     int
		resource string
		body     string
		texts    []string
	}{
		"required parameter":      {422, "instances", instanceOf("x", "strict", ""), []string{"spec.parameters[NEEDED]", "Where to store it"}},
		"integer":                 {422, "instances", instanceOf("x", "strict", "NEEDED: x, COUNT: many"), []string{"spec.parameters[COUNT]", "integer"}},
		"boolean":                 {422, "instances", instanceOf("x", "strict", "NEEDED: x, ACTIVE: perhaps"), []string{"spec.parameters[ACTIVE]", "boolean"}},
		"array":                   {422, "instances", instanceOf("x", "strict", "NEEDED: x, LIST: 'a: b'"), []string{"spec.parameters[LIST]", "array"}},
		"enum":                    {422, "instances", instanceOf("x", "strict", "NEEDED: x, COLOUR: green"), []string{"spec.parameters[COLOUR]", "red", "blue"}},
		"all at once":             {422, "instances", instanceOf("x", "strict", "COUNT: many, COLOUR: green"), []string{"NEEDED", "COUNT", "COLOUR"}},
		"upper case":              {422, "instances", instanceOf("Upper", "strict", "NEEDED: x"), []string{"metadata.name", "lowercase"}},
		"64 characters":           {422, "instances", instanceOf(strings.Repeat("x", 64), "strict", "NEEDED: x"), []string{"metadata.name", "63"}},
		"no name":                 {422, "instances", instanceOf("", "strict", "NEEDED: x"), []string{"name"}},
		"unknown OperatorVersion": {422, "instances", instanceOf("x", "none", ""), []string{"spec.operatorVersion.name", "kubectl get operatorversions"}},
		"no OperatorVersion":      {422, "instances", "{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: x}}", []string{"spec.operatorVersion.name", "Required"}},
		"no plan deploy":          {422, "instances", instanceOf("x", "no-deploy", ""), []string{"spec.operatorVersion", "deploy"}},
		"not JSON":                {400, "instances", "{", []string{"yaml"}},
		"parameters are no text":  {400, "instances", instanceOf("x", "strict", "NEEDED: 5"), []string{"parameters"}},
		"wrong kind":              {400, "instances", harness.Execution("x", "db", "backup"), []string{"Instance", "PlanExecution"}},
		"wrong version":           {400, "instances", strings.Replace(harness.Instance("x"), "v1beta1", "v1", 1), []string{"kudo.dev/v1"}},
		"another namespace":       {400, "instances", strings.Replace(harness.Instance("x"), "name: x", "name: x, namespace: elsewhere", 1), []string{"namespace"}},
		"plan name":               {422, "operatorversions", versionWith("x", "plans: {Deploy_It: {}}"), []string{"spec.plans[Deploy_It]", "plan name"}},
		"plan name with a colon":  {422, "operatorversions", versionWith("x", "plans: {'a:b': {}}"), []string{"spec.plans[a:b]"}},
		"plan name is a star":     {422, "operatorversions", versionWith("x", "plans: {'*': {}}"), []string{"spec.plans[*]"}},
		"two phases of a name":    {422, "operatorversions", versionWith("x", "plans: {deploy: {phases: [{name: a}, {name: a}]}}"), []string{"spec.plans[deploy].phases[1].name", "Duplicate"}},
		"two steps of a name":     {422, "operatorversions", versionWith("x", "plans: {deploy: {phases: [{name: a, steps: [{name: s}, {name: s}]}]}}"), []string{"steps[1].name", "Duplicate"}},
		"phase without a name":    {422, "operatorversions", versionWith("x", "plans: {deploy: {phases: [{}]}}"), []string{"phases[0].name", "Required"}},
		"strategy":                {422, "operatorversions", versionWith("x", "plans: {deploy: {strategy: random}}"), []string{"strategy", "serial", "parallel"}},
		"two parameters":          {422, "operatorversions", versionWith("x", "parameters: [{name: A}, {name: A}]"), []string{"spec.parameters[1].name", "Duplicate"}},
		"negative ttl":            {422, "planexecutions", runOf("instanceName: db, planName: backup, ttlSecondsAfterFinished: -1"), []string{"spec.ttlSecondsAfterFinished", "negative"}},
		"deadline of zero":        {422, "planexecutions", runOf("instanceName: db, planName: backup, activeDeadlineSeconds: 0"), []string{"spec.activeDeadlineSeconds", "greater than 0"}},
		"no Instance named":       {422, "planexecutions", runOf("planName: backup"), []string{"spec.instanceName", "Required"}},
		"no plan named":           {422, "planexecutions", runOf("instanceName: db"), []string{"spec.planName", "Required"}},
		"no such Instance":        {422, "planexecutions", runOf("instanceName: none, planName: backup"), []string{"spec.instanceName", "Not found"}},
		"no such plan":            {422, "planexecutions", runOf("instanceName: db, planName: none"), []string{"spec.planName", "backup"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env.Expect(t, tc.code, harness.Request{Method: "POST", Path: harness.Path(ns, tc.resource), Body: tc.body}, tc.texts...)
		})
	}
	t.Cleanup(func() {
		for resource, want := range before {
			if got := env.Names(t, harness.Path(ns, resource)); len(got) != want {
				t.Errorf("something was stored: %s %q", resource, got)
			}
		}
	})
}

// TestValidNames: names that only look wrong are taken.
func TestValidNames(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	for _, name := range []string{"with.dots", "9starts-with-a-digit", strings.Repeat("x", 63)} {
		env.Create(t, ns, "instances", instanceOf(name, "demo-1.0.0", ""))
		env.Idle(t, ns, name)
		env.Expect(t, http.StatusCreated, paths["plans/P:trigger"](ns, name, "restore", ""))
		env.Idle(t, ns, name)
	}
}

// TestTooLarge: an object beyond what the storage takes is refused as the client's mistake, on each path, and the server lives on.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	for size, want := range map[int]int{1 << 20: 201, 1700 << 10: 413, 2 << 20: 413, 4 << 20: 413} {
		body := fmt.Sprintf(`{"apiVersion":"kudo.dev/v1beta1","kind":"OperatorVersion","metadata":{"name":"big-%d"},"spec":{"operator":{"name":"x"},"templates":{"t":%q}}}`, size, strings.Repeat("x", size))
		got := env.Send(t, harness.Request{Method: "POST", Path: harness.Path(ns, "operatorversions"), Type: harness.JSON, Body: body})
		if got.Code != want {
			t.Errorf("%d bytes: %d, want %d: %s", size, got.Code, want, got.Text())
		} else {
			t.Logf("%d bytes: %d %.200s", size, got.Code, got.Text())
		}
	}
	got := env.Send(t, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger"), Type: harness.JSON,
		Body: fmt.Sprintf(`{"parameters":{"SIZE":%q}}`, strings.Repeat("x", 2<<20))})
	if got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large trigger: %d %s", got.Code, got.Text())
	}
	if plan := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "planExecution", "planName"); plan != "" {
		t.Errorf("a refused run of %s holds the lock", plan)
	}
}

// TestFieldValidation: unknown fields are refused, warned of or dropped, as the request asks for.
func TestFieldValidation(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		misspelt := func(name string) string {
			return strings.Replace(k.body(name), "spec: {", "spec: {misspelt: 1, ", 1)
		}
		post := func(name, mode string) harness.Request {
			return harness.Request{Method: "POST", Path: harness.Path(ns, k.resource) + "?dryRun=All&fieldValidation=" + mode, Body: misspelt(name)}
		}
		env.Expect(t, http.StatusBadRequest, post("a", "Strict"), "spec.misspelt")
		if got := env.Expect(t, http.StatusCreated, post("a", "Warn")); !strings.Contains(strings.Join(got.Header.Values("Warning"), ";"), "spec.misspelt") {
			t.Errorf("warnings: %q", got.Header.Values("Warning"))
		}
		if got := env.Expect(t, http.StatusCreated, post("a", "Ignore")); strings.Contains(strings.Join(got.Header.Values("Warning"), ";"), "misspelt") || got.Field(t, "spec", "misspelt") != "" {
			t.Errorf("ignored: %q", got.Header.Values("Warning"))
		}
		missing(t, ns, k.resource, "a")
	})
}
