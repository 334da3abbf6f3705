// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// kind is what tests of all kinds need to know of one.
type kind struct {
	resource, kind string
	// body of an object of this name.
	body func(name string) string
	// prepare makes what objects need to exist.
	prepare func(t *testing.T, ns string)
	// counted is a merge patch that changes the spec, if there is one that may.
	counted string
}

var kinds = []kind{
	{"operators", "Operator", func(name string) string {
		return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: Operator, metadata: {name: %s}, spec: {url: 'http://x'}}", name)
	}, func(*testing.T, string) {}, `{"spec":{"url":"http://y"}}`},
	{"operatorversions", "OperatorVersion", func(name string) string {
		return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: OperatorVersion, metadata: {name: %s}, spec: {operator: {name: demo}, version: 1.0.0}}", name)
	}, func(*testing.T, string) {}, `{"spec":{"version":"1.0.1"}}`},
	{"instances", "Instance", harness.Instance, func(t *testing.T, ns string) {
		t.Helper()
		env.Create(t, ns, "operatorversions", harness.Version)
	}, `{"spec":{"parameters":{"SIZE":"2"}}}`},
	{"planexecutions", "PlanExecution", func(name string) string {
		return harness.Execution(name, "of-"+name, "backup")
	}, func(t *testing.T, ns string) {
		t.Helper()
		env.Create(t, ns, "operatorversions", harness.Version)
		for _, name := range []string{"a", "b", "c"} {
			env.Create(t, ns, "instances", harness.Instance("of-"+name))
			env.Idle(t, ns, "of-"+name)
		}
	}, `{"spec":{"ttlSecondsAfterFinished":60}}`},
}

// eachKind runs a test for every kind, in a namespace in which its objects a, b and c can be created.
func eachKind(t *testing.T, test func(t *testing.T, k kind, ns string)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.resource, func(t *testing.T) {
			t.Parallel()
			ns := env.Namespace(t)
			k.prepare(t, ns)
			test(t, k, ns)
		})
	}
}

func get(path string) harness.Request { return harness.Request{Method: "GET", Path: path} }

func patch(mediaType, path, body string) harness.Request {
	return harness.Request{Method: "PATCH", Type: mediaType, Path: path, Body: body}
}

// missing fails the test if the object is stored.
func missing(t *testing.T, ns, resource, name string) {
	t.Helper()
	env.Expect(t, http.StatusNotFound, get(harness.Path(ns, resource, name)))
}
