// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"net/http"
	"strings"
	"testing"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// paths are the three ways to ask for a run.
var paths = map[string]func(namespace, instance, plan, query string) harness.Request{
	"plans/P:trigger": func(namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "POST", Path: harness.Path(namespace, "instances", instance, "plans", plan+":trigger") + query}
	},
	"plans": func(namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "POST", Path: harness.Path(namespace, "instances", instance, "plans") + query, Body: harness.Trigger(plan)}
	},
	"planexecutions": func(namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "POST", Path: harness.Path(namespace, "planexecutions") + query,
			Body: strings.Replace(harness.Execution("x", instance, plan), "name: x", "generateName: "+instance+"-", 1)}
	},
}

// TestCreateInstanceRunsDeploy: a new Instance is locked by a run of deploy from the first moment, and the lock goes with it.
func TestCreateInstanceRunsDeploy(t *testing.T) {
	t.Parallel()
	ns := env.Namespace(t)
	env.Create(t, ns, "operatorversions", harness.Version)
	created := env.Create(t, ns, "instances", harness.Instance("db"))
	if got := created.Field(t, "spec", "planExecution", "planName"); got != "deploy" {
		t.Errorf("the new Instance is locked by %q, want deploy", got)
	}
	uid := created.Field(t, "spec", "planExecution", "uid")
	run := created.Field(t, "spec", "planExecution", "template", "name")
	if got := created.Header.Values("Warning"); len(got) != 1 || !strings.Contains(got[0], "planexecution/"+run) {
		t.Errorf("the warnings do not name the run %s: %q", run, got)
	}
	pe := env.Get(t, ns, "planexecutions", run)
	if string(pe.GetUID()) != uid {
		t.Errorf("the run has uid %s, the lock %s", pe.GetUID(), uid)
	}
	for want, path := range map[string][]string{
		"Create":     {"spec", "trigger"},
		"admin":      {"spec", "requestedBy", "username"},
		"demo-1.0.0": {"spec", "operatorVersion", "name"},
		"db":         {"spec", "instanceName"},
	} {
		if got := harness.Field(pe, path...); got != want {
			t.Errorf("%s of the run is %q, want %q", strings.Join(path, "."), got, want)
		}
	}
	if owners := pe.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != "Instance" || owners[0].UID != created.Object(t).GetUID() {
		t.Errorf("the run is owned by %v", owners)
	}
	env.Idle(t, ns, "db")
	i := env.Get(t, ns, "instances", "db")
	if got := harness.Field(i, "status", "planStatus", "deploy", "status"); got != "COMPLETE" {
		t.Errorf("deploy is %s", got)
	}
	if got := harness.Field(i, "status", "planStatus", "deploy", "uid"); got != uid {
		t.Errorf("planStatus has uid %s, want %s", got, uid)
	}
	if got := harness.Field(i, "spec", "parameters", "FIXED"); got != "once" {
		t.Errorf("the immutable default was not fixed: %q", got)
	}
}

// TestTriggerPaths: each of the three paths runs the plan, answers the run, and refuses a second one by naming the first.
func TestTriggerPaths(t *testing.T) {
	t.Parallel()
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := env.Installed(t, "db")
			dry := env.Expect(t, http.StatusCreated, path(ns, "db", "backup", "?dryRun=All"))
			if dry.Object(t).GetKind() != "PlanExecution" || dry.Field(t, "status", "status") != "PENDING" {
				t.Errorf("dry run answers %s", dry.Text())
			}
			if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "planExecution", "planName"); got != "" {
				t.Errorf("a dry run took the lock: %s", got)
			}
			if got := env.Names(t, harness.Path(ns, "planexecutions")); len(got) != 1 {
				t.Errorf("a dry run stored a run: %q", got)
			}
			run := env.Expect(t, http.StatusCreated, path(ns, "db", "backup", ""))
			pe := run.Object(t)
			if pe.GetKind() != "PlanExecution" || pe.GetAPIVersion() != "kudo.dev/v1beta1" || run.Field(t, "spec", "trigger") != "Manual" ||
				!strings.HasPrefix(pe.GetName(), "db-") || run.Field(t, "spec", "requestedBy", "username") != cluster.Admin {
				t.Errorf("the answer is %s", run.Text())
			}
			if got := pe.GetLabels()["kudo.dev/instance"] + "/" + pe.GetLabels()["kudo.dev/plan"]; got != "db/backup" {
				t.Errorf("labels %v", pe.GetLabels())
			}
			if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "planExecution", "uid"); got != string(pe.GetUID()) {
				t.Errorf("the lock has uid %s, the run %s", got, pe.GetUID())
			}
			for _, again := range paths {
				env.Expect(t, http.StatusConflict, again(ns, "db", "restore", ""), pe.GetName(), "\"admin\"", "backup")
				env.Expect(t, http.StatusConflict, again(ns, "db", "restore", "?dryRun=All"), pe.GetName())
			}
			if got := env.Names(t, harness.Path(ns, "planexecutions")); len(got) != 2 {
				t.Errorf("a refused run was stored: %q", got)
			}
		})
	}
}

// TestTriggerRefusals: what is wrong with a request is said in words, and nothing runs.
func TestTriggerRefusals(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	colon := harness.Path(ns, "instances", "db", "plans", "restore:trigger")
	plans := harness.Path(ns, "instances", "db", "plans")
	post := func(path, body string) harness.Request {
		return harness.Request{Method: "POST", Path: path, Body: body}
	}
	for name, tc := range map[string]struct {
		code int
		req  harness.Request
		text string
	}{
		"body names another plan":     {400, post(colon, "{planName: backup}"), "restore"},
		"unknown plan by path":        {422, post(harness.Path(ns, "instances", "db", "plans", "nope:trigger"), ""), "supported values"},
		"unknown plan by body":        {422, post(plans, harness.Trigger("nope")), "spec.planName"},
		"no plan":                     {422, post(plans, "{apiVersion: kudo.dev/v1beta1, kind: PlanTrigger}"), "name the plan to run"},
		"unknown Instance by path":    {404, post(harness.Path(ns, "instances", "no", "plans", "restore:trigger"), ""), "\"no\" not found"},
		"unknown Instance by body":    {404, post(harness.Path(ns, "instances", "no", "plans"), harness.Trigger("restore")), "not found"},
		"media type":                  {415, harness.Request{Method: "POST", Path: colon, Type: "text/plain", Body: "x"}, "application/json"},
		"media type of plans":         {415, harness.Request{Method: "POST", Path: plans, Type: "text/plain", Body: "x"}, "accepted media types"},
		"not YAML":                    {400, post(colon, "{"), "PlanTrigger"},
		"another kind":                {400, post(colon, harness.Instance("x")), "kind"},
		"unknown parameter":           {422, post(colon, "{parameters: {NOPE: x}}"), "spec.parameters[NOPE]"},
		"wrong type of parameter":     {422, post(colon, "{parameters: {COUNT: many}}"), "integer"},
		"parameter outside the enum":  {422, post(colon, "{parameters: {COLOUR: green}}"), "red"},
		"immutable parameter":         {422, post(colon, "{parameters: {FIXED: other}}"), "immutable"},
		"parameters that are no text": {400, post(colon, "{parameters: {COUNT: {a: b}}}"), "parameters"},
		"GET of the trigger":          {404, harness.Request{Method: "GET", Path: colon}, "not found"},
		"PUT of the trigger":          {405, harness.Request{Method: "PUT", Path: colon, Body: "{}"}, ""},
		"a segment below the trigger": {405, post(colon+"/x", ""), ""},
		"an invalid plan name":        {422, post(harness.Path(ns, "instances", "db", "plans", "Not_a_plan:trigger"), ""), "planName"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env.Expect(t, tc.code, tc.req, tc.text)
		})
	}
}

// TestTriggerStoresNothingWhenRefused: after every refusal the Instance is idle and its history unchanged.
func TestTriggerStoresNothingWhenRefused(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	before := env.Get(t, ns, "instances", "db").GetResourceVersion()
	for _, body := range []string{"{planName: backup}", "{parameters: {NOPE: x}}", "{parameters: {COUNT: many}}", "{"} {
		if got := env.Send(t, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger"), Body: body}); got.Code < 400 {
			t.Errorf("%s is accepted: %s", body, got.Text())
		}
	}
	env.Send(t, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger")})
	if after := env.Get(t, ns, "instances", "db").GetResourceVersion(); after != before {
		t.Errorf("the Instance changed from %s to %s", before, after)
	}
	if got := env.Names(t, harness.Path(ns, "planexecutions")); len(got) != 1 {
		t.Errorf("runs: %q", got)
	}
}

// TestTriggerBody: parameters, labels and a name of a trigger reach the run; the Instance keeps its own parameters.
func TestTriggerBody(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Type: harness.JSON,
		Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger"),
		Body: `{"metadata":{"name":"nightly","labels":{"by":"cron"}},"parameters":{"COUNT":"5"}}`})
	if got := run.Object(t); got.GetName() != "nightly" || got.GetLabels()["by"] != "cron" {
		t.Errorf("the run is %s %v", got.GetName(), got.GetLabels())
	}
	if got := run.Field(t, "spec", "parameters", "COUNT"); got != "5" {
		t.Errorf("COUNT is %q", got)
	}
	env.Idle(t, ns, "db")
	if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "parameters", "COUNT"); got != "" {
		t.Errorf("the parameter of one run is kept in the Instance: %s", got)
	}
	env.Expect(t, http.StatusConflict, harness.Request{Method: "POST",
		Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger"), Body: "{metadata: {name: nightly}}"}, "already exists")
}

// TestPlans: GET lists the plans with their last runs, or shows one.
func TestPlans(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusCreated, paths["plans"](ns, "db", "backup", ""))
	list := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "db", "plans")}).Object(t)
	plans := list.Object["plans"].([]any)
	want := []string{"backup", "deploy", "restore", "update"}
	if len(plans) != len(want) {
		t.Fatalf("plans %v", plans)
	}
	for n, name := range want {
		plan := plans[n].(map[string]any)
		if plan["name"] != name || plan["strategy"] != "serial" || (plan["active"] == true) != (name == "backup") || (plan["lastRun"] != nil) != (name == "backup" || name == "deploy") {
			t.Errorf("plan %d is %v", n, plan)
		}
	}
	one := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "db", "plans", "deploy")}).Object(t)
	if got := one.Object["plans"].([]any); len(got) != 1 {
		t.Errorf("one plan: %v", got)
	}
	env.Expect(t, http.StatusNotFound, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "db", "plans", "nope")}, "nope")
	env.Expect(t, http.StatusNotFound, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "nope", "plans")}, "nope")
}
