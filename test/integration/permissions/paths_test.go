// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

// path is a way to name a plan that is to run.
type path struct {
	// rules are what kube-apiserver asks for.
	rules []string
	// code of the answer to somebody who may.
	code    int
	request func(t *testing.T, namespace, instance, plan, query string) harness.Request
}

var (
	// usesPlans is the right to the endpoint of the plans, without the right to any of them.
	usesPlans = []string{"create instances/plans"}
	changes   = []string{"get,update,patch instances"}
)

// paths are all ways to name a plan that is to run.
var paths = map[string]path{
	"POST plans/P:trigger": {usesPlans, http.StatusCreated, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "POST", Path: harness.Path(namespace, "instances", instance, "plans", plan+":trigger") + query}
	}},
	"POST plans": {usesPlans, http.StatusCreated, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "POST", Path: harness.Path(namespace, "instances", instance, "plans") + query, Body: harness.Trigger(plan)}
	}},
	"POST planexecutions": {[]string{"create planexecutions"}, http.StatusCreated, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "POST", Path: harness.Path(namespace, "planexecutions") + query, Body: harness.Execution("posted", instance, plan)}
	}},
	"apply planexecutions": {[]string{"create,patch planexecutions"}, http.StatusCreated, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "PATCH", Type: harness.Apply, Path: harness.Path(namespace, "planexecutions", "applied") + with(query, "fieldManager=test"),
			Body: harness.Execution("applied", instance, plan)}
	}},
	"merge patch of the Instance": {changes, http.StatusOK, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(namespace, "instances", instance) + query,
			Body: fmt.Sprintf(`{"spec":{"planExecution":{"planName":%q}}}`, plan)}
	}},
	"JSON patch of the Instance": {changes, http.StatusOK, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "PATCH", Type: harness.JSONPatch, Path: harness.Path(namespace, "instances", instance) + query,
			Body: fmt.Sprintf(`[{"op":"add","path":"/spec/planExecution","value":{"planName":%q}}]`, plan)}
	}},
	"apply of the Instance": {changes, http.StatusOK, func(_ *testing.T, namespace, instance, plan, query string) harness.Request {
		return harness.Request{Method: "PATCH", Type: harness.Apply, Path: harness.Path(namespace, "instances", instance) + with(query, "fieldManager=test&force=true"),
			Body: fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: %s}, spec: {operatorVersion: {name: demo-1.0.0}, planExecution: {planName: %s}}}", instance, plan)}
	}},
	"PUT of the Instance": {changes, http.StatusOK, func(t *testing.T, namespace, instance, plan, query string) harness.Request {
		t.Helper()
		i := env.Get(t, namespace, "instances", instance)
		if err := unstructured.SetNestedField(i.Object, plan, "spec", "planExecution", "planName"); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(i.Object)
		if err != nil {
			t.Fatal(err)
		}
		return harness.Request{Method: "PUT", Type: harness.JSON, Path: harness.Path(namespace, "instances", instance) + query, Body: string(body)}
	}},
}

func with(query, more string) string {
	if query == "" {
		return "?" + more
	}
	return query + "&" + more
}

// as is the request of a user.
func as(user string, r harness.Request) harness.Request {
	r.User = user
	return r
}

// footprint is all that a request to run a plan could leave in a namespace.
func footprint(t *testing.T, namespace string) string {
	t.Helper()
	var all []string
	for _, resource := range []string{"instances", "planexecutions", "operatorversionrevisions"} {
		list := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(namespace, resource)}).Object(t)
		items, _, err := unstructured.NestedSlice(list.Object, "items")
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			o := unstructured.Unstructured{Object: item.(map[string]any)}
			all = append(all, resource+"/"+o.GetName()+"@"+o.GetResourceVersion())
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// newContent changes what the OperatorVersion has, so that the next run needs a revision of its own.
func newContent(t *testing.T, namespace string) {
	t.Helper()
	env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(namespace, "operatorversions", "demo-1.0.0"),
		Body: `{"spec":{"appVersion":"2.6"}}`})
}
