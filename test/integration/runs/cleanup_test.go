// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// cleaned has a plan cleanup that waits for a Deployment, which becomes ready when the nodes allow it.
func cleaned(label string) lab.Operator {
	return lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("data"), "backup": lab.Serial("hold"), "cleanup": lab.Serial("wait", "done")},
		Tasks:     []v1beta1.Task{lab.Apply("data", "data"), lab.Apply("wait", "wait"), lab.Done("done"), lab.Hold("hold")},
		Templates: map[string]string{"data": lab.ConfigMap("data", "x"), "wait": lab.Workload("Deployment", "wait", label)},
	}
}

// deleting waits for the run of the cleanup of the Instance "sample" to have begun.
func deleting(t *testing.T, l *lab.Lab, ns string) *v1beta1.PlanExecution {
	t.Helper()
	i := l.Instance(t, ns, "sample", "to be held by its cleanup", func(i *v1beta1.Instance) bool {
		return i.DeletionTimestamp != nil && i.Spec.PlanExecution.PlanName == v1beta1.CleanupPlanName
	})
	return l.Run(t, lab.Holder(i), "to have begun", func(pe *v1beta1.PlanExecution) bool {
		return pe.Spec.Trigger == v1beta1.TriggerCleanup && pe.Status.Status == v1beta1.ExecutionInProgress
	})
}

// TestCleanup: however an Instance is deleted, its cleanup runs first, while what the Instance owns is there.
func TestCleanup(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			l.Deployed(t, ns, cleaned("test/"+ns))
			held := l.Trigger(t, ns, "backup")
			if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
				t.Fatal(err)
			}
			run := deleting(t, l, ns)
			if pe := l.Ended(t, held, v1beta1.ExecutionFatalError); !slices.ContainsFunc(pe.Status.Conditions, func(c metav1.Condition) bool { return c.Reason == v1beta1.ReasonSuperseded }) {
				t.Errorf("the run that held the Instance ended with %+v", pe.Status.Conditions)
			}
			waiting(t, l, run, "wait", "0 of 1 replicas available")
			l.Object(t, lab.ConfigMaps, ns, "data", "to be there during the cleanup", func(obj *unstructured.Unstructured) bool {
				// A second deletion that does not orphan has its way with what the garbage collector has not orphaned by then.
				return obj != nil && obj.GetDeletionTimestamp() == nil && (policy != metav1.DeletePropagationOrphan || len(obj.GetOwnerReferences()) == 0)
			})
			// Who deletes it again, in another way, does not disturb the cleanup: else the Instance would stay for ever.
			if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
				t.Error(err)
			}
			l.Allow(t, "test/"+ns)
			l.Object(t, lab.Instances, ns, "sample", "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
			l.Object(t, lab.ConfigMaps, ns, "data", "to be collected, or not", func(obj *unstructured.Unstructured) bool {
				if policy == metav1.DeletePropagationOrphan {
					return obj != nil && len(obj.GetOwnerReferences()) == 0
				}
				return obj == nil
			})
		})
	}
}

// TestCleanupOfCollection: deletecollection starts cleanups as delete does.
func TestCleanupOfCollection(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, cleaned("test/"+ns))
	if err := l.Kudo.KudoV1beta1().Instances(ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	deleting(t, l, ns)
	l.Allow(t, "test/"+ns)
	l.Object(t, lab.Instances, ns, "sample", "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
}

// TestCleanupInADeletedNamespace: a cleanup that can never end, because nothing can be created any more, holds no namespace up.
func TestCleanupInADeletedNamespace(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	for _, began := range []bool{false, true} {
		t.Run(map[bool]string{false: "not begun", true: "begun"}[began], func(t *testing.T) {
			t.Parallel()
			ns := l.Namespace(t)
			l.Deployed(t, ns, cleaned("test/"+ns))
			if began {
				if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				deleting(t, l, ns)
			}
			if err := l.Kube.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			l.Object(t, namespaces, "", ns, "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
		})
	}
}
