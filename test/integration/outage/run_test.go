// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package outage

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// forget deletes what the first step of a run made. It comes back if the step runs again.
func forget(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) {
	t.Helper()
	must(t, l.Kube.CoreV1().ConfigMaps(pe.Namespace).Delete(t.Context(), "first", metav1.DeleteOptions{}))
}

// allowed makes happen what the second step waits for.
func allowed(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) {
	t.Helper()
	l.Allow(t, "test/"+pe.Namespace)
	l.Object(t, lab.Deployments, pe.Namespace, "wait", "to be available", func(obj *unstructured.Unstructured) bool {
		n, _, _ := unstructured.NestedInt64(obj.Object, "status", "availableReplicas")
		return n == 1
	})
}

// completes waits for the end of a run whose first step was complete before and may not have been repeated.
func completes(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) {
	t.Helper()
	ended := l.Ended(t, pe, v1beta1.ExecutionComplete)
	was, is := lab.Step(t, pe, "first"), lab.Step(t, ended, "first")
	if is.Status != v1beta1.ExecutionComplete || !is.StartTime.Equal(was.StartTime) || !is.CompletionTime.Equal(was.CompletionTime) {
		t.Errorf("the step that was complete: was %+v, is %+v", was, is)
	}
	l.Object(t, lab.ConfigMaps, pe.Namespace, "first", "not to be made again", func(obj *unstructured.Unstructured) bool {
		if obj != nil {
			t.Error("a completed step was repeated: it made its ConfigMap again")
		}
		return true
	})
	l.Object(t, lab.ConfigMaps, pe.Namespace, "last", "to be made", func(obj *unstructured.Unstructured) bool { return obj != nil })
	l.Unlocked(t, pe.Namespace, "sample")
}
