// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
)

// TestVersionThatIsNoLongerServed: an executor that knows a version from before the cluster dropped it goes on with the
// successor, and takes objects for gone only if there is none.
func TestVersionThatIsNoLongerServed(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		successor  bool
		want       engine.Outcome
	}{
		{"apply", "Apply", true, engine.Done},
		{"apply without successor", "Apply", false, engine.Fatal},
		{"delete", "Delete", true, engine.Done},
		{"delete without successor", "Delete", false, engine.Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newCluster(t)
			others := cl.disco.Resources
			serve := func(version string) {
				cl.disco.Resources = append(slices.Clip(others), &metav1.APIResourceList{GroupVersion: "policy/" + version,
					APIResources: []metav1.APIResource{{Name: budgets.Resource, Kind: "PodDisruptionBudget", Namespaced: true}}})
			}
			cl.dynamic.PrependReactor("*", budgets.Resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
				if a.GetResource().Version == budgets.Version {
					return false, nil, nil
				}
				return true, nil, apierrors.NewGenericServerResponse(404, a.GetVerb(), budgets.GroupResource(), "b", "404 page not found", 0, true)
			})
			existing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "b", "namespace": "ns"}}}
			if err := cl.dynamic.Tracker().Create(budgets, existing, "ns"); err != nil {
				t.Fatal(err)
			}
			serve("v1beta1")
			r := runner(t, c.kind, v1beta1.TaskSpec{Resources: []string{"budget"}})
			if got := r.Run(context.Background(), cl.Env); got.Outcome != engine.Retry || !strings.Contains(got.Err.Error(), "no longer serves poddisruptionbudgets of policy/v1beta1") {
				t.Fatalf("got %+v", got)
			}
			cl.disco.Resources = others
			if c.successor {
				serve("v1")
			}
			cl.clock.SetTime(cl.clock.Now().Add(time.Minute))
			got := r.Run(context.Background(), cl.Env)
			if got.Outcome != c.want {
				t.Fatalf("got %+v", got)
			}
			if reason, _ := fault.Classify(got.Err); c.want == engine.Fatal && reason != fault.ReasonUnknownKind {
				t.Errorf("reason %s", reason)
			}
			o, err := cl.dynamic.Tracker().Get(budgets, "ns", "b")
			switch {
			case c.kind == "Delete" && c.successor:
				if !apierrors.IsNotFound(err) {
					t.Errorf("the object was taken for gone: %v %v", o, err)
				}
			case c.kind == "Apply" && c.successor:
				if err != nil || o.(*unstructured.Unstructured).GetLabels()["heritage"] != "kudo" || cl.applies != 1 {
					t.Errorf("not applied: %v %v", o, err)
				}
			}
		})
	}
}

// TestDeadlineOfAnEarlierRun: a Deployment that had exceeded its progress deadline before it was applied again has not
// failed, until it exceeds it once more.
func TestDeadlineOfAnEarlierRun(t *testing.T) {
	cl := newCluster(t)
	cl.Fresh = true
	r := runner(t, "Apply", v1beta1.TaskSpec{Resources: []string{"late"}})
	for range 2 {
		if got := r.Run(context.Background(), cl.Env); got.Outcome != engine.Waiting || !strings.Contains(got.Message, "before this run") {
			t.Fatalf("got %+v", got)
		}
	}
	o, err := cl.dynamic.Tracker().Get(deployments, "ns", "late")
	if err != nil {
		t.Fatal(err)
	}
	late := o.(*unstructured.Unstructured).DeepCopy()
	late.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Progressing", "reason": "ProgressDeadlineExceeded", "lastUpdateTime": "y"}}}
	if err := cl.dynamic.Tracker().Update(deployments, late, "ns"); err != nil {
		t.Fatal(err)
	}
	got := r.Run(context.Background(), cl.Env)
	if reason, _ := fault.Classify(got.Err); got.Outcome != engine.Fatal || reason != fault.ReasonFailedObject {
		t.Errorf("got %+v", got)
	}
}
