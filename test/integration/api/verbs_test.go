// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestLifeOfAnObject: create, read, change in every way, list, watch, delete, for each kind.
func TestLifeOfAnObject(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		path := harness.Path(ns, k.resource, "a")
		created := env.Create(t, ns, k.resource, k.body("a")).Object(t)
		if created.GetKind() != k.kind || created.GetGeneration() != 1 || created.GetUID() == "" || created.GetCreationTimestamp().Time.IsZero() {
			t.Errorf("created: %v", created)
		}
		env.Expect(t, http.StatusConflict, harness.Request{Method: "POST", Path: harness.Path(ns, k.resource), Body: k.body("a")}, "already exists")
		for mediaType, body := range map[string]string{
			harness.JSONPatch:      `[{"op":"add","path":"/metadata/labels","value":{"json":"yes"}}]`,
			harness.MergePatch:     `{"metadata":{"annotations":{"merge":"yes"}}}`,
			harness.StrategicPatch: `{"metadata":{"finalizers":["example.com/strategic"]}}`,
		} {
			env.Expect(t, http.StatusOK, patch(mediaType, path, body))
		}
		// What the executor changes meanwhile is not of this test.
		got := env.Get(t, ns, k.resource, "a")
		if got.GetLabels()["json"] != "yes" || got.GetAnnotations()["merge"] != "yes" || !slices.Contains(got.GetFinalizers(), "example.com/strategic") {
			t.Errorf("patched: %v", got)
		}
		put := func(change func(*unstructured.Unstructured)) harness.Request {
			object := env.Get(t, ns, k.resource, "a")
			change(object)
			body, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			return harness.Request{Method: "PUT", Path: path, Type: harness.JSON, Body: string(body)}
		}
		env.Until(t, patience, "a PUT with the current resourceVersion to be taken", func() error {
			return wantCode(env.Send(t, put(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"put": "yes"}) })), http.StatusOK)
		})
		env.Expect(t, http.StatusOK, put(func(u *unstructured.Unstructured) { u.SetResourceVersion("") }))
		env.Expect(t, http.StatusConflict, put(func(u *unstructured.Unstructured) { u.SetResourceVersion("1") }), "modified")
		env.Expect(t, http.StatusConflict, put(func(u *unstructured.Unstructured) { u.SetUID("of-another") }), "UID")
		env.Expect(t, http.StatusNotFound, harness.Request{Method: "PUT", Path: harness.Path(ns, k.resource, "b"), Body: k.body("b")})
		env.Expect(t, http.StatusOK, patch(harness.MergePatch, path, `{"metadata":{"finalizers":null}}`))
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: path})
		missing(t, ns, k.resource, "a")
	})
}

// TestGeneration: it counts changes of the spec, and of nothing else.
func TestGeneration(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		env.Create(t, ns, k.resource, k.body("a"))
		if k.kind == "Instance" {
			env.Idle(t, ns, "a")
		}
		path := harness.Path(ns, k.resource, "a")
		before := env.Get(t, ns, k.resource, "a").GetGeneration()
		if got := env.Expect(t, http.StatusOK, patch(harness.MergePatch, path, `{"metadata":{"labels":{"x":"y"}}}`)).Object(t).GetGeneration(); got != before {
			t.Errorf("a label made generation %d of %d", got, before)
		}
		if got := env.Expect(t, http.StatusOK, patch(harness.MergePatch, path, k.counted)).Object(t).GetGeneration(); got != before+1 {
			t.Errorf("the spec made generation %d of %d", got, before)
		}
	})
}

// TestListAndWatch: items carry their kind, selectors and pages work, and a watch tells of every change in order.
func TestListAndWatch(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		path := harness.Path(ns, k.resource)
		version := env.Expect(t, http.StatusOK, get(path)).Object(t).GetResourceVersion()
		for _, name := range []string{"a", "b", "c"} {
			env.Create(t, ns, k.resource, k.body(name))
		}
		env.Expect(t, http.StatusOK, patch(harness.MergePatch, path+"/b", `{"metadata":{"labels":{"pick":"me"}}}`))
		list := env.Expect(t, http.StatusOK, get(path+"?labelSelector=pick%3Dme")).Object(t)
		if list.GetKind() != k.kind+"List" {
			t.Errorf("the list is a %s", list.GetKind())
		}
		items, _, _ := unstructured.NestedSlice(list.Object, "items")
		if len(items) != 1 {
			t.Fatalf("selected by label: %v", items)
		}
		if item := items[0].(map[string]any); item["kind"] != k.kind || item["apiVersion"] != "kudo.dev/v1beta1" {
			t.Errorf("an item is %v %v", item["apiVersion"], item["kind"])
		}
		if got := env.Names(t, path+"?fieldSelector=metadata.name%3Dc,metadata.namespace%3D"+ns); !slices.Equal(got, []string{"c"}) {
			t.Errorf("selected by field: %q", got)
		}
		env.Expect(t, http.StatusBadRequest, get(path+"?fieldSelector=spec.nonsense%3Dx"), "metadata.name")
		page := env.Expect(t, http.StatusOK, get(path+"?limit=1")).Object(t)
		if got, _, _ := unstructured.NestedSlice(page.Object, "items"); len(got) != 1 || page.GetContinue() == "" {
			t.Errorf("a page of one has %d items and goes on with %q", len(got), page.GetContinue())
		}
		if got := env.Names(t, path+"?limit=500&continue="+url.QueryEscape(page.GetContinue())); len(got) < 2 || slices.Contains(got, "a") {
			t.Errorf("the next page has %q", got)
		}

		resp := env.Open(t.Context(), t, get(path+"?watch=true&resourceVersion="+version))
		defer resp.Body.Close()
		events := bufio.NewScanner(resp.Body)
		events.Buffer(nil, 1<<20)
		await(t, events, "ADDED", "a", k.kind)
		await(t, events, "MODIFIED", "b", k.kind)
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: path + "/c"})
		await(t, events, "DELETED", "c", k.kind)
	})
}

// await reads events until the wanted one; kind is that of the object in it.
func await(t *testing.T, events *bufio.Scanner, event, name, kind string) {
	t.Helper()
	for events.Scan() {
		var got struct {
			Type   string
			Object unstructured.Unstructured
		}
		if err := json.Unmarshal(events.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, events.Text())
		}
		if got.Type == event && got.Object.GetName() == name {
			if got.Object.GetKind() != kind {
				t.Errorf("the object of the event is %s", got.Object.GetKind())
			}
			return
		}
	}
	t.Fatalf("the watch ended before %s %s: %v", event, name, events.Err())
}

// TestDryRunStoresNothing: not for any verb of any kind.
func TestDryRunStoresNothing(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(ns, k.resource) + "?dryRun=All", Body: k.body("b")})
		missing(t, ns, k.resource, "b")
		env.Expect(t, http.StatusCreated, patch(harness.Apply, harness.Path(ns, k.resource, "b")+"?dryRun=All&fieldManager=x", k.body("b")))
		missing(t, ns, k.resource, "b")
		env.Create(t, ns, k.resource, k.body("a"))
		if k.kind == "Instance" {
			env.Idle(t, ns, "a")
		}
		path := harness.Path(ns, k.resource, "a")
		runs := len(env.Names(t, harness.Path(ns, "planexecutions")))
		if got := env.Expect(t, http.StatusOK, patch(harness.MergePatch, path+"?dryRun=All", strings.Replace(k.counted, "{", `{"metadata":{"labels":{"dry":"run"}},`, 1))).Object(t); got.GetLabels()["dry"] != "run" {
			t.Errorf("the answer does not show what would be: %v", got)
		}
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: path + "?dryRun=All"})
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, k.resource) + "?dryRun=All"})
		after := env.Get(t, ns, k.resource, "a")
		if after.GetLabels()["dry"] != "" || after.GetDeletionTimestamp() != nil {
			t.Errorf("a dry run changed the object: %v", after)
		}
		if got := len(env.Names(t, harness.Path(ns, "planexecutions"))); got != runs {
			t.Errorf("a dry run stored a run: %d, before %d", got, runs)
		}
	})
}

// TestDeleteCollection: by selector, in JSON and in protobuf, which the namespace controller asks for.
func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, k kind, ns string) {
		for _, name := range []string{"a", "b", "c"} {
			env.Create(t, ns, k.resource, k.body(name))
		}
		path := harness.Path(ns, k.resource)
		env.Expect(t, http.StatusOK, patch(harness.MergePatch, path+"/b", `{"metadata":{"labels":{"pick":"me"}}}`))
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: path + "?labelSelector=pick%3Dme"})
		if got := env.Names(t, path); slices.Contains(got, "b") || !slices.Contains(got, "a") {
			t.Errorf("left: %q", got)
		}
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: path, Accept: protobuf + "," + harness.JSON})
		if got := env.Names(t, path); len(got) != 0 {
			t.Errorf("left: %q", got)
		}
	})
}
