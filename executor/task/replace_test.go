// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
)

// TestReplaced: an object that cannot be changed makes way, also if somebody else deletes it at the same moment; the run does not end with
// the error that it could not be changed.
func TestReplaced(t *testing.T) {
	for _, c := range []struct {
		name     string
		owner    string
		vanishes string // with this call
		fails    bool   // this call
		want     engine.Outcome
	}{
		{name: "deleted by us", owner: "iuid", want: engine.Waiting},
		{name: "gone before it is deleted", owner: "iuid", vanishes: "delete", want: engine.Waiting},
		{name: "gone before it is read", owner: "iuid", vanishes: "get", want: engine.Waiting},
		{name: "not to be read", owner: "iuid", vanishes: "get", fails: true, want: engine.Retry},
		{name: "of somebody else", owner: "other", want: engine.Fatal},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newCluster(t)
			cl.Fresh = true
			cl.Templates["job"] = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {kudo.dev/recreate: OnChange}}"
			live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "j", "namespace": "ns", "uid": "old",
				"ownerReferences": []any{map[string]any{"apiVersion": "kudo.dev/v1beta1", "kind": "Instance", "name": "zk", "uid": c.owner}}}}}
			if err := cl.dynamic.Tracker().Create(jobs, live, "ns"); err != nil {
				t.Fatal(err)
			}
			cl.fail = apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "j", field.ErrorList{field.Invalid(field.NewPath("spec", "template"), "", "field is immutable")})
			if once := true; c.vanishes != "" {
				cl.dynamic.PrependReactor(c.vanishes, "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
					if cl.fail != nil || !once {
						return false, nil, nil //nolint:nilerr // not before it was refused
					}
					once = false
					if c.fails {
						return true, nil, apierrors.NewServiceUnavailable("away")
					}
					if err := cl.dynamic.Tracker().Delete(jobs, "ns", "j"); err != nil && !apierrors.IsNotFound(err) {
						t.Error(err)
					}
					return false, nil, nil
				})
			}
			r := runner(t, "Apply", v1beta1.TaskSpec{Resources: []string{"job"}})
			got := r.Run(context.Background(), cl.Env)
			if got.Outcome != c.want {
				t.Fatalf("got %+v", got)
			}
			switch c.want {
			case engine.Waiting:
				if got.Recheck == 0 || cl.applies != 0 {
					t.Errorf("%d applies: %+v", cl.applies, got)
				}
				if got := r.Run(context.Background(), cl.Env); got.Outcome != engine.Waiting || cl.applies != 1 {
					t.Errorf("it is not made anew: %d applies: %+v", cl.applies, got)
				}
			case engine.Fatal:
				if reason, _ := fault.Classify(got.Err); reason != fault.ReasonImmutable {
					t.Errorf("got %v", got.Err)
				}
			}
		})
	}
}
