// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/pipe"
)

// pipePod makes the pod of a Pipe task of a run.
func (w *world) pipePod(name, run string) (exists func() bool) {
	w.t.Helper()
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
	pod.SetNamespace("ns")
	pod.SetName(name)
	pod.SetUID(types.UID(name))
	pod.SetLabels(map[string]string{pipe.Annotation: "true", apply.LabelHeritage: apply.HeritageValue})
	pod.SetAnnotations(map[string]string{apply.AnnotationRunUID: run})
	pods := w.dynamic.Resource(pipe.Pods.GroupVersionResource).Namespace("ns")
	if _, err := pods.Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	return func() bool {
		_, err := pods.Get(context.Background(), name, metav1.GetOptions{})
		return !apierrors.IsNotFound(err)
	}
}

// TestPipePodsOfEndedRuns: an executor that begins deletes the pods that runs left which ended without one, and no others.
func TestPipePodsOfEndedRuns(t *testing.T) {
	w := newWorld(t, "s=hang")
	left, used := w.pipePod("left", "gone"), w.pipePod("used", "ruid")
	defer w.start()()
	w.wait("the pod that was left to go", func() bool { return !left() })
	if !used() {
		t.Error("the pod of a run that is under way was deleted")
	}
}

// TestPipePodOfCancelledRun: the pod of a run that somebody ends goes.
func TestPipePodOfCancelledRun(t *testing.T) {
	w := newWorld(t, "s=hang", "t=pipe")
	defer w.start()()
	w.waitStatus(v1beta1.ExecutionInProgress)
	used := w.pipePod("used", "ruid")
	w.change(func(s *v1beta1.PlanExecutionSpec) { s.ActiveDeadlineSeconds = new(int64(1)) })
	w.waitStatus(v1beta1.ExecutionFatalError)
	w.wait("its pod to go", func() bool { return !used() })
}

// TestPipesOfOneKey: a plan in which templates could not tell two pipes apart ends before its first step.
func TestPipesOfOneKey(t *testing.T) {
	w := newWorld(t, "s=a", "t=pipe", "u=pipe")
	defer w.start()()
	w.waitStatus(v1beta1.ExecutionFatalError)
	if w.count("a") != 0 {
		t.Errorf("the run began: %s", w.run().Status.Message)
	}
}
