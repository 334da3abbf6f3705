// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package watch

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PodsResource is where pods are.
var PodsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

var replicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}

// makers are the kinds whose controller makes pods directly.
var makers = map[schema.GroupKind]bool{
	{Group: "apps", Kind: "StatefulSet"}: true, {Group: "apps", Kind: "DaemonSet"}: true, {Group: "apps", Kind: "ReplicaSet"}: true,
	{Group: "batch", Kind: "Job"}: true, {Kind: "ReplicationController"}: true,
}

func isDeployment(obj *unstructured.Unstructured) bool {
	return obj.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "apps", Kind: "Deployment"}
}

// IsPod tells whether an object is a pod.
func IsPod(obj *unstructured.Unstructured) bool {
	return obj.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Pod"}
}

// HasPods tells whether Pods finds the pods of such an object.
func HasPods(obj *unstructured.Unstructured) bool {
	return isDeployment(obj) || makers[obj.GroupVersionKind().GroupKind()]
}

// TrackPods notifies w of every change of the pods of an Instance in the namespace of its workload. They are found by the labels that
// pods have from the templates of what KUDO applied.
func (h *Hub) TrackPods(w Waiter, workload *unstructured.Unstructured, instance string) {
	h.Track(w, Key{GroupVersionResource: PodsResource, Namespace: workload.GetNamespace(), Instance: instance})
	if isDeployment(workload) {
		h.Track(w, Key{GroupVersionResource: replicaSets, Namespace: workload.GetNamespace(), Instance: instance})
	}
}

// Pods returns the pods of a workload, of a Deployment those of its newest template: what is wrong with the pods that it replaces
// is what it mends. It finds none before the informers that TrackPods started have their lists.
func (h *Hub) Pods(workload *unstructured.Unstructured) []*unstructured.Unstructured {
	owner := workload.GetUID()
	if isDeployment(workload) {
		newest := h.newest(workload)
		if newest == nil {
			return nil
		}
		owner = newest.GetUID()
	}
	pods, _ := h.Owned(PodsResource, workload.GetNamespace(), owner)
	return pods
}

// MadeFor tells whether the owner of a pod is the newest ReplicaSet of a Deployment.
func (h *Hub) MadeFor(owner *metav1.OwnerReference, deployment *unstructured.Unstructured) bool {
	newest := h.newest(deployment)
	return newest != nil && newest.GetUID() == owner.UID
}

// revision is where the deployment controller counts the templates of a Deployment.
const revision = "deployment.kubernetes.io/revision"

func (h *Hub) newest(deployment *unstructured.Unstructured) (newest *unstructured.Unstructured) {
	sets, _ := h.Owned(replicaSets, deployment.GetNamespace(), deployment.GetUID())
	most := -1
	for _, s := range sets {
		if n, err := strconv.Atoi(s.GetAnnotations()[revision]); err == nil && n > most {
			newest, most = s, n
		}
	}
	return newest
}
