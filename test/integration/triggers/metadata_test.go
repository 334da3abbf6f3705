// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"cmp"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

// put sends the Instance back as it was read, changed by edit.
func put(edit func(*unstructured.Unstructured)) send {
	return func(s *scene) harness.Request {
		s.Helper()
		i := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kudo.dev/v1beta1", "kind": "Instance"}}
		i.SetName(s.name)
		if s.before.Instance != nil {
			i = s.before.Instance.DeepCopy()
		}
		edit(i)
		body, err := i.MarshalJSON()
		if err != nil {
			s.Fatal(err)
		}
		return harness.Request{Method: http.MethodPut, Path: s.path(), Type: harness.JSON, Body: string(body)}
	}
}

// TestMetadata: what does not change the spec is taken at any time and starts nothing.
func TestMetadata(t *testing.T) {
	t.Parallel()
	free := changes().leaves("", "metadata", "finalizers")
	check(t, []row{
		{"a label", patch(`{"metadata":{"labels":{"a":"b"}}}`), always(changes())},
		{"an annotation of somebody who may not start plans", patch(`{"metadata":{"annotations":{"a":"b"}}}`).as(alice), always(changes())},
		{"PUT with a label", put(func(i *unstructured.Unstructured) { i.SetLabels(map[string]string{"a": "b"}) }), always(changes())},
		{"PUT of what was read", put(func(*unstructured.Unstructured) {}), always(nothing())},
		{"an empty patch", patch(`{}`), always(nothing())},
		{"the finalizers are taken off", patch(`{"metadata":{"finalizers":null}}`),
			always(free).but(nothing(), plain).but(vanishes(), dying...)},
		{"a status", patch(`{"status":{"planStatus":{"deploy":{"status":"NEVER_RUN"},"backup":null}}}`), always(nothing())},
	})
}

// TestStatus: whoever may write a status cannot free an Instance by it, nor take it.
func TestStatus(t *testing.T) {
	t.Parallel()
	status := func(body string) send {
		return func(s *scene) harness.Request {
			r := patch(body)(s)
			r.Path += "/status"
			return r
		}
	}
	lockStays := nothing().and(func(s *scene, _ harness.Response) {
		was, is := harness.Field(s.before.Instance, "spec"), harness.Field(s.after.Instance, "spec")
		if s.same("spec", was, is); harness.Field(s.after.Instance, "status", "planStatus", "extra", "status") != "COMPLETE" {
			s.Errorf("the status was not written: %v", s.after.Instance.Object["status"])
		}
		s.same("runs", s.before.Runs, s.after.Runs)
		s.same("revisions", s.before.Revisions, s.after.Revisions)
	})
	history := refused(http.StatusConflict, "the run has ended", "history")
	check(t, []row{
		{"of the Instance, with a lock", status(`{"spec":{"planExecution":{"planName":"","uid":""},"parameters":{"SIZE":"9"}},"status":{"planStatus":{"extra":{"name":"extra","status":"COMPLETE"}}}}`), always(lockStays)},
		{"of the Instance, with another lock", status(`{"spec":{"planExecution":{"planName":"restore","uid":"mine"}},"status":{"planStatus":{"extra":{"name":"extra","status":"COMPLETE"}}}}`), always(lockStays)},
		{"of a run that does not hold the Instance", func(s *scene) harness.Request {
			return harness.Request{Method: http.MethodPatch, Path: harness.Path(s.ns, "planexecutions", cmp.Or(s.deploy, "none"), "status"), Type: harness.MergePatch,
				Body: `{"status":{"status":"ERROR","message":"edited"}}`}
		}, always(history).but(nothing().leaves("deploy", "spec", "planExecution", "planName").leaves("ERROR", "spec", "planExecution", "status"), deploying)},
	})
}
