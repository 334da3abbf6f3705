// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package watch

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var things = schema.GroupVersionResource{Group: "x.io", Version: "v1", Resource: "things"}

func thing(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "x.io/v1", "kind": "Thing",
		"metadata": map[string]any{"name": name, "namespace": "ns", "labels": map[string]any{"heritage": "kudo"}, "managedFields": []any{}}}}
}

func key(name string) Key { return Key{GroupVersionResource: things, Namespace: "ns", Name: name} }

func TestHub(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"}, thing("a"))
	got := make(chan string, 100)
	h := New(ctx, client, func(run string) { got <- run })
	defer h.Wait()
	defer cancel()
	expect := func(what, run string) {
		t.Helper()
		select {
		case r := <-got:
			if r != run {
				t.Fatalf("%s: notified %s, want %s", what, r, run)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: nobody was notified", what)
		}
	}
	drain := func() {
		time.Sleep(50 * time.Millisecond)
		for len(got) > 0 {
			<-got
		}
	}
	a, b := key("a"), key("b")
	if h.Look(a).Synced {
		t.Error("synced before anybody waits")
	}
	h.Track(Waiter{"run1", "s"}, a)
	expect("first list", "run1")
	drain()
	if v := h.Look(a); !v.Synced || v.Object == nil || v.Gone != nil || v.Object.GetManagedFields() != nil {
		t.Errorf("view: %+v", v)
	}
	c := client.Resource(things).Namespace("ns")
	if _, err := c.Create(ctx, thing("b"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	h.Track(Waiter{"run2", "s"}, b)
	drain()
	u := thing("b")
	u.Object["spec"] = "new"
	if _, err := c.Update(ctx, u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("update", "run2")
	if err := c.Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("delete", "run2")
	if v := h.Look(b); v.Object != nil || v.Gone == nil || v.Gone.Object["spec"] != "new" {
		t.Errorf("view after delete: %+v", v)
	}
	h.Release(Waiter{Run: "run2"})
	if v := h.Look(b); v.Gone != nil {
		t.Error("what nobody waits for is kept")
	}
	if err := c.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("the other run still waits", "run1")
}

func TestIdleInformersStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"})
	h := New(ctx, client, func(string) {})
	defer h.Wait()
	defer cancel()
	h.idle = time.Millisecond
	h.Track(Waiter{"run", "s"}, key("a"))
	h.Release(Waiter{"run", "s"})
	for range 1000 {
		h.mu.Lock()
		n := len(h.sources)
		h.mu.Unlock()
		if n == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the informer still runs")
}

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"10", "9", true}, {"9", "9", true}, {"9", "10", false}, {"", "5", true}, {"abc", "5", true}} {
		if got := AtLeast(c.a, c.b); got != c.want {
			t.Errorf("%q >= %q: %v", c.a, c.b, got)
		}
	}
}

// TestOutage: who waits is told that no events come, and again when they do.
func TestOutage(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"}, thing("a"))
	var down atomic.Bool
	down.Store(true)
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return down.Load(), nil, errors.New("no connection")
	})
	got := make(chan string, 100)
	h := New(ctx, client, func(run string) { got <- run })
	defer h.Wait()
	defer cancel()
	a := key("a")
	h.Track(Waiter{"run", "s"}, a)
	for _, want := range []bool{true, false} {
		select {
		case <-got:
		case <-time.After(10 * time.Second):
			t.Fatal("nobody was notified")
		}
		if err := h.Look(a).Err; (err != nil) != want {
			t.Errorf("got %v", err)
		}
		down.Store(false)
	}
}

// TestStrip: contents are left out of a copy, and the object stays as it is.
func TestStrip(t *testing.T) {
	in := thing("a")
	in.Object["data"], in.Object["binaryData"], in.Object["stringData"], in.Object["status"] = map[string]any{"a": "b"}, map[string]any{}, map[string]any{}, map[string]any{"ready": true}
	before := in.DeepCopy()
	out, err := strip(in)
	if err != nil {
		t.Fatal(err)
	}
	want := thing("a").Object
	delete(want["metadata"].(map[string]any), "managedFields")
	want["status"] = map[string]any{"ready": true}
	if !reflect.DeepEqual(out.(*unstructured.Unstructured).Object, want) || !reflect.DeepEqual(in, before) {
		t.Errorf("got %v from %v", out, in)
	}
}
