// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Secret tells whether any of the files becomes a Secret. What such a pod says of itself must not be repeated where more people may
// read it than may read Secrets.
func Secret(files []v1beta1.PipeSpec) bool {
	return slices.ContainsFunc(files, func(p v1beta1.PipeSpec) bool { return p.Kind == secretKind })
}

// Silent returns a copy of the pod without the termination messages of its containers, which may be the ends of their logs.
func Silent(pod *unstructured.Unstructured) *unstructured.Unstructured {
	pod = pod.DeepCopy()
	for _, group := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		list, _, _ := unstructured.NestedFieldNoCopy(pod.Object, "status", group)
		containers, _ := list.([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			for _, state := range []string{"state", "lastState"} {
				unstructured.RemoveNestedField(container, state, "terminated", "message")
			}
		}
	}
	return pod
}
