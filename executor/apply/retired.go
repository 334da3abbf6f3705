// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type conversion func(*unstructured.Unstructured) error

// retired lists API versions that Kubernetes removed and packages still use: old group and version, kinds, new group and
// version, and what else has to change.
var retired = []struct {
	from    schema.GroupVersion
	kinds   []string
	to      schema.GroupVersion
	convert conversion
}{
	{gv("policy", "v1beta1"), []string{"PodDisruptionBudget"}, gv("policy", "v1"), budget},
	{gv("rbac.authorization.k8s.io", "v1beta1"), []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}, gv("rbac.authorization.k8s.io", "v1"), same},
	{gv("batch", "v1beta1"), []string{"CronJob"}, gv("batch", "v1"), same},
	{gv("apps", "v1beta1"), workloadKinds, gv("apps", "v1"), workload},
	{gv("apps", "v1beta2"), workloadKinds, gv("apps", "v1"), workload},
	{gv("extensions", "v1beta1"), workloadKinds, gv("apps", "v1"), workload},
	{gv("extensions", "v1beta1"), []string{"Ingress"}, gv("networking.k8s.io", "v1"), ingress},
	{gv("networking.k8s.io", "v1beta1"), []string{"Ingress"}, gv("networking.k8s.io", "v1"), ingress},
	{gv("networking.k8s.io", "v1beta1"), []string{"IngressClass"}, gv("networking.k8s.io", "v1"), same},
	{gv("extensions", "v1beta1"), []string{"NetworkPolicy"}, gv("networking.k8s.io", "v1"), same},
	{gv("apiextensions.k8s.io", "v1beta1"), []string{"CustomResourceDefinition"}, gv("apiextensions.k8s.io", "v1"), customResourceDefinition},
	{gv("rbac.authorization.k8s.io", "v1alpha1"), []string{"Role", "ClusterRole"}, gv("rbac.authorization.k8s.io", "v1"), same},
	{gv("batch", "v2alpha1"), []string{"CronJob"}, gv("batch", "v1"), same},
	{gv("admissionregistration.k8s.io", "v1beta1"), []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}, gv("admissionregistration.k8s.io", "v1"), webhooks},
	{gv("apiregistration.k8s.io", "v1beta1"), []string{"APIService"}, gv("apiregistration.k8s.io", "v1"), same},
	{gv("coordination.k8s.io", "v1beta1"), []string{"Lease"}, gv("coordination.k8s.io", "v1"), same},
	{gv("autoscaling", "v2beta1"), []string{"HorizontalPodAutoscaler"}, gv("autoscaling", "v2"), autoscaler},
	{gv("autoscaling", "v2beta2"), []string{"HorizontalPodAutoscaler"}, gv("autoscaling", "v2"), same},
	{gv("storage.k8s.io", "v1beta1"), []string{"StorageClass"}, gv("storage.k8s.io", "v1"), same},
	{gv("scheduling.k8s.io", "v1beta1"), []string{"PriorityClass"}, gv("scheduling.k8s.io", "v1"), same},
}

var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}

func gv(group, version string) schema.GroupVersion {
	return schema.GroupVersion{Group: group, Version: version}
}

func successorOf(gvk schema.GroupVersionKind) (schema.GroupVersionKind, conversion, bool) {
	for _, r := range retired {
		if r.from != gvk.GroupVersion() {
			continue
		}
		for _, kind := range r.kinds {
			if kind == gvk.Kind {
				return r.to.WithKind(kind), r.convert, true
			}
		}
	}
	return schema.GroupVersionKind{}, nil, false
}

func same(*unstructured.Unstructured) error { return nil }

// budget: an empty selector selected nothing in v1beta1 and selects everything in v1. The key is the one by which the API
// server itself told the two apart.
func budget(obj *unstructured.Unstructured) error {
	selector, ok, _ := unstructured.NestedMap(obj.Object, "spec", "selector")
	if !ok || len(selector) > 0 {
		return nil
	}
	return unstructured.SetNestedField(obj.Object, []any{map[string]any{"key": "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match", "operator": "Exists"}},
		"spec", "selector", "matchExpressions")
}

// workload: the selector, which had the labels of the template as its default, has to be given.
func workload(obj *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(obj.Object, "spec", "rollbackTo")
	unstructured.RemoveNestedField(obj.Object, "spec", "templateGeneration")
	if _, ok, _ := unstructured.NestedMap(obj.Object, "spec", "selector"); ok {
		return nil
	}
	labels, ok, err := unstructured.NestedStringMap(obj.Object, "spec", "template", "metadata", "labels")
	if err != nil || !ok {
		return err // the API server says what is missing
	}
	return unstructured.SetNestedStringMap(obj.Object, labels, "spec", "selector", "matchLabels")
}
