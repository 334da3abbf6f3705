// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/executor/fault"
)

// TestResourceGone: that nobody serves a path does not say that the object is not there, and makes discovery be read anew.
func TestResourceGone(t *testing.T) {
	k := newKinds()
	obj := object(t, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a, namespace: ns}")
	r, _, err := k.Resolve(context.Background(), obj, "t")
	if err != nil {
		t.Fatal(err)
	}
	var answer error
	dynamic := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	dynamic.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, answer })
	c := &Client{Kinds: k.Kinds, Dynamic: dynamic}
	ref := RefOf(obj, r)

	answer = apierrors.NewNotFound(schema.GroupResource{Resource: r.Resource}, "a")
	if got, err := c.Get(context.Background(), ref); got != nil || err != nil {
		t.Errorf("get: %v %v", got, err)
	}
	if gone, err := c.Delete(context.Background(), ref); !gone || err != nil {
		t.Errorf("delete: %v %v", gone, err)
	}

	answer = apierrors.NewGenericServerResponse(404, "", schema.GroupResource{Resource: r.Resource}, "a", "404 page not found", 0, true)
	_, getErr := c.Get(context.Background(), ref)
	gone, deleteErr := c.Delete(context.Background(), ref)
	_, _, applyErr := c.Apply(context.Background(), obj, r)
	for _, err := range []error{getErr, deleteErr, applyErr} {
		if _, final := fault.Classify(err); final || gone || !errors.Is(err, ErrResourceGone) {
			t.Errorf("gone %v: %v", gone, err)
		}
	}
	k.discovery.Resources = k.discovery.Resources[:1]
	if _, _, err := k.lookup(obj.GroupVersionKind()); err == nil {
		t.Error("what discovery said before is still believed")
	}
}
