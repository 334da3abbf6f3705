// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package harness

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Root is the path of the group.
const Root = "/apis/kudo.dev/v1beta1"

// Version is an OperatorVersion. Plan backup holds its Instance until its run is deleted; all others complete at once.
const Version = `
apiVersion: kudo.dev/v1beta1
kind: OperatorVersion
metadata: {name: demo-1.0.0}
spec:
  operator: {name: demo}
  version: 1.0.0
  appVersion: "2.5"
  parameters:
  - {name: SIZE, default: "1"}
  - {name: COUNT, value-type: integer, default: "3"}
  - {name: COLOUR, enum: [red, blue], default: red}
  - {name: FIXED, immutable: true, default: once}
  tasks:
  - {name: quick, kind: Dummy, spec: {done: true}}
  - {name: endless, kind: Dummy, spec: {done: false}}
  plans:
    deploy: {phases: [{name: main, steps: [{name: only, tasks: [quick]}]}]}
    update: {phases: [{name: main, steps: [{name: only, tasks: [quick]}]}]}
    restore: {phases: [{name: main, steps: [{name: only, tasks: [quick]}]}]}
    backup: {phases: [{name: main, steps: [{name: first, tasks: [quick]}, {name: hold, tasks: [endless]}]}]}
`

// Instance is an Instance of Version.
func Instance(name string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: %s}, spec: {operatorVersion: {name: demo-1.0.0}}}", name)
}

// Execution is a PlanExecution with a name of its own.
func Execution(name, instance, plan string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: PlanExecution, metadata: {name: %s}, spec: {instanceName: %s, planName: %s}}", name, instance, plan)
}

// Trigger is a PlanTrigger.
func Trigger(plan string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: PlanTrigger, planName: %s}", plan)
}

// Path is the path of a namespaced resource of the group, and of what lies below it.
func Path(namespace string, below ...string) string {
	return Root + "/namespaces/" + namespace + "/" + strings.Join(below, "/")
}

var namespaces atomic.Int64

// Namespace makes a namespace for the test. It goes with the cluster.
func (e *Env) Namespace(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("test-%d", namespaces.Add(1))
	tb.Logf("namespace %s", name)
	e.Expect(tb, http.StatusCreated, Request{Method: "POST", Path: "/api/v1/namespaces",
		Body: "{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}"})
	return name
}

// Create creates an object of the group as the administrator.
func (e *Env) Create(tb testing.TB, namespace, resource, body string) Response {
	tb.Helper()
	return e.Expect(tb, http.StatusCreated, Request{Method: "POST", Path: Path(namespace, resource), Body: body})
}

// Get reads an object of the group, which must exist, as the administrator.
func (e *Env) Get(tb testing.TB, namespace string, below ...string) *unstructured.Unstructured {
	tb.Helper()
	return e.Expect(tb, http.StatusOK, Request{Method: "GET", Path: Path(namespace, below...)}).Object(tb)
}

// Installed makes a namespace with Version and one Instance of it, which has been deployed.
func (e *Env) Installed(tb testing.TB, instance string) string {
	tb.Helper()
	namespace := e.Namespace(tb)
	e.Create(tb, namespace, "operatorversions", Version)
	e.Create(tb, namespace, "instances", Instance(instance))
	e.Idle(tb, namespace, instance)
	return namespace
}

// Idle waits until no run holds the Instance. Where there is no executor, it ends the run that does.
func (e *Env) Idle(tb testing.TB, namespace, instance string) {
	tb.Helper()
	e.Until(tb, 20*time.Second, "instance "+instance+" to be idle", func() error {
		i := e.Get(tb, namespace, "instances", instance)
		plan := Field(i, "spec", "planExecution", "planName")
		if plan == "" {
			return nil
		}
		if e.playsExecutor {
			e.Report(tb, namespace, Field(i, "spec", "planExecution", "template", "name"), `{"status":"COMPLETE"}`)
		}
		return fmt.Errorf("plan %s holds it", plan)
	})
}

// Report writes the status of a run as an executor does. That the run is gone is no mistake.
func (e *Env) Report(tb testing.TB, namespace, run, status string) {
	tb.Helper()
	got := e.Send(tb, Request{Method: "PATCH", Type: MergePatch, Path: Path(namespace, "planexecutions", run, "status"), Body: `{"status":` + status + `}`})
	if got.Code != http.StatusOK && got.Code != http.StatusNotFound {
		tb.Fatalf("report of %s: %d: %s", run, got.Code, got.Text())
	}
}

// Names of the objects of a list.
func (e *Env) Names(tb testing.TB, path string) []string {
	tb.Helper()
	list := e.Expect(tb, http.StatusOK, Request{Method: "GET", Path: path}).Object(tb)
	items, _, _ := unstructured.NestedSlice(list.Object, "items")
	names := []string{}
	for _, item := range items {
		name, _, _ := unstructured.NestedString(item.(map[string]any), "metadata", "name")
		names = append(names, name)
	}
	return names
}

// Field reads a field as text; it is empty if the field is absent.
func Field(object *unstructured.Unstructured, path ...string) string {
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if !found || err != nil {
		return ""
	}
	return fmt.Sprint(value)
}

// Until waits until check returns nil, and says what it waited for if it never does.
func (e *Env) Until(tb testing.TB, patience time.Duration, what string, check func() error) {
	tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			tb.Fatalf("waited %s for %s: %v", patience, what, err)
		case <-ticker.C:
		}
	}
}
