// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestTriggerFieldValidation: unknown and duplicate fields of a body are told of on the path of a plan as on that of all plans.
func TestTriggerFieldValidation(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	plans := harness.Path(ns, "instances", "db", "plans")
	bodies := map[string]harness.Request{
		"JSON": {Type: harness.JSON, Body: `{"planName":"restore","bogus":1,"metadata":{"name":"x","lables":{}},"parameters":{"SIZE":"1","SIZE":"2"},"planName":"restore"}`},
		"YAML": {Type: harness.YAML, Body: "planName: restore\nbogus: 1\nmetadata: {name: x, lables: {}}\nparameters: {SIZE: '1'}\nplanName: restore\n"},
		"fine": {Type: harness.JSON, Body: `{"planName":"restore","parameters":{"SIZE":"2"}}`},
	}
	for _, validation := range []string{"", "&fieldValidation=Warn", "&fieldValidation=Ignore", "&fieldValidation=Strict", "&fieldValidation=Nonsense"} {
		for name, r := range bodies {
			t.Run(name+validation, func(t *testing.T) {
				t.Parallel()
				r.Method = "POST"
				r.Path = plans + "?dryRun=All" + validation
				want := env.Send(t, r)
				r.Path = plans + "/restore:trigger?dryRun=All" + validation
				got := env.Send(t, r)
				if diff := cmp.Diff(want.Header.Values("Warning"), got.Header.Values("Warning")); diff != "" {
					t.Errorf("the warnings differ: %s", diff)
				}
				if got.Code != want.Code || got.Code >= 300 && got.Text() != want.Text() {
					t.Errorf("got %d: %s\nwant %d: %s", got.Code, got.Text(), want.Code, want.Text())
				}
				wrong := name != "fine"
				code := map[bool]int{false: http.StatusCreated, true: http.StatusBadRequest}[wrong && validation == "&fieldValidation=Strict"]
				if validation == "&fieldValidation=Nonsense" {
					code = http.StatusUnprocessableEntity
				}
				warns := wrong && (validation == "" || validation == "&fieldValidation=Warn")
				if got.Code != code || (len(got.Header.Values("Warning")) >= 3) != warns {
					t.Errorf("got %d with warnings %q: %s", got.Code, got.Header.Values("Warning"), got.Text())
				}
				if got.Code == http.StatusCreated && got.Field(t, "spec", "planName") != "restore" {
					t.Errorf("it would run %s", got.Text())
				}
			})
		}
	}
}

// TestTriggerDryRun: a dry run on the path of a plan answers the run as it would be and leaves nothing, a revision of changed content
// neither; the same request in earnest leaves all of it.
func TestTriggerDryRun(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "operatorversions", "demo-1.0.0"), Body: `{"spec":{"appVersion":"2.6"}}`})
	counts := func() []int {
		var out []int
		for _, resource := range []string{"planexecutions", "operatorversionrevisions"} {
			out = append(out, len(env.Names(t, harness.Path(ns, resource))))
		}
		return out
	}
	before, version := counts(), env.Get(t, ns, "instances", "db").GetResourceVersion()
	trigger := harness.Request{Method: "POST", Type: harness.JSON, Path: harness.Path(ns, "instances", "db", "plans", "backup:trigger?dryRun=All"),
		Body: `{"metadata":{"name":"tonight"},"parameters":{"SIZE":"7"}}`}
	for range 2 {
		dry := env.Expect(t, http.StatusCreated, trigger)
		for want, path := range map[string][]string{
			"PlanExecution": {"kind"}, "tonight": {"metadata", "name"}, "backup": {"spec", "planName"}, "7": {"spec", "parameters", "SIZE"}, "PENDING": {"status", "status"},
		} {
			if got := dry.Field(t, path...); got != want {
				t.Errorf("%v is %q, want %q", path, got, want)
			}
		}
	}
	if got := counts(); !slices.Equal(got, before) {
		t.Errorf("the dry run left runs and revisions: %v, before %v", got, before)
	}
	if got := env.Get(t, ns, "instances", "db").GetResourceVersion(); got != version {
		t.Errorf("the dry run wrote the Instance: %s, before %s", got, version)
	}
	trigger.Path = harness.Path(ns, "instances", "db", "plans", "backup:trigger")
	env.Expect(t, http.StatusCreated, trigger)
	if got, want := counts(), []int{before[0] + 1, before[1] + 1}; !slices.Equal(got, want) {
		t.Errorf("runs and revisions are %v, want %v", got, want)
	}
}
