// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestPutWithoutMetadata: a PUT that leaves out what the server knows of the Instance starts the plan that its change asks for, and is
// refused what any other would be.
func TestPutWithoutMetadata(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	for _, field := range []string{"resourceVersion", "uid", "generation", "creationTimestamp", "labels", "finalizers"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			fixed := lab.Parameter("fixed", "a")
			fixed.Immutable = new(true)
			l.Deployed(t, ns, lab.Operator{Plans: map[string]v1beta1.Plan{"update": lab.Serial("done")}, Tasks: []v1beta1.Task{lab.Done("done")},
				Parameters: []v1beta1.Parameter{lab.Parameter("p", "x"), fixed}})
			client := l.Dynamic.Resource(lab.Instances).Namespace(ns)
			put := func(parameter, value string) error {
				obj, err := client.Get(t.Context(), "sample", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				unstructured.RemoveNestedField(obj.Object, "metadata", field)
				unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
				if err := unstructured.SetNestedField(obj.Object, value, "spec", "parameters", parameter); err != nil {
					t.Fatal(err)
				}
				_, err = client.Update(t.Context(), obj, metav1.UpdateOptions{})
				return err
			}
			if err := put("fixed", "b"); !apierrors.IsInvalid(err) {
				t.Errorf("an immutable parameter: %v", err)
			}
			if err := put("nope", "b"); !apierrors.IsInvalid(err) {
				t.Errorf("a parameter that does not exist: %v", err)
			}
			if err := put("p", "y"); err != nil {
				t.Fatal(err)
			}
			l.Instance(t, ns, "sample", "to have been updated", func(i *v1beta1.Instance) bool {
				return i.Status.PlanStatus["update"].Status == v1beta1.ExecutionComplete && i.Spec.PlanExecution.UID == ""
			})
		})
	}
}
