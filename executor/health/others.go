// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func service(obj *unstructured.Unstructured, _ Lookup) Result {
	if text(obj, "spec", "type") != "LoadBalancer" {
		return ready()
	}
	if ips, _, _ := unstructured.NestedSlice(obj.Object, "spec", "externalIPs"); len(ips) > 0 {
		return ready()
	}
	if ingress, _, _ := unstructured.NestedSlice(obj.Object, "status", "loadBalancer", "ingress"); len(ingress) == 0 {
		return waiting("the load balancer has no address yet")
	}
	return ready()
}

// claim is also ready while its volume is only made for the first pod that uses it: that pod may be in a later step.
func claim(obj *unstructured.Unstructured, lookup Lookup) Result {
	switch phase := text(obj, "status", "phase"); phase {
	case "Bound":
		return ready()
	case "Lost":
		// Not final: a provisioner that names the volume before it makes it looks like this for a moment.
		return waiting("the claim has no volume %s", text(obj, "spec", "volumeName"))
	}
	if lookup == nil || text(obj, "spec", "volumeName") != "" {
		return waiting("the claim is not bound")
	}
	name, named, _ := unstructured.NestedString(obj.Object, "spec", "storageClassName")
	if named && name == "" {
		return waiting("the claim is not bound; it asks for no storage class, so somebody has to make a volume for it")
	}
	class, err := lookup.StorageClass(name)
	switch {
	case err != nil:
		return waiting("the claim is not bound, and its storage class %q cannot be read: %v", name, err)
	case class == nil && name == "":
		return waiting("the claim is not bound, and the cluster has no default storage class")
	case class == nil:
		return waiting("the claim is not bound, and there is no storage class %q", name)
	case text(class, "volumeBindingMode") == "WaitForFirstConsumer":
		return ready()
	}
	return waiting("the claim is not bound")
}

func namespace(obj *unstructured.Unstructured, _ Lookup) Result {
	if phase := text(obj, "status", "phase"); phase != "Active" {
		return waiting("the namespace is %s", cmp.Or(phase, "not active"))
	}
	return ready()
}

// instance is ready when no plan runs and the last one that ended did not fail. KUDO took a failed child for a good one.
func instance(obj *unstructured.Unstructured, _ Lookup) Result {
	if plan := text(obj, "spec", "planExecution", "planName"); plan != "" {
		return waiting("plan %s of the Instance is running", plan)
	}
	plans, _, _ := unstructured.NestedMap(obj.Object, "status", "planStatus")
	var last map[string]any
	latest := ""
	for _, p := range plans {
		m, _ := p.(map[string]any)
		// RFC 3339 in UTC sorts as text.
		if at, _ := m["lastUpdatedTimestamp"].(string); m != nil && (last == nil || at > latest) {
			if s, _ := m["status"].(string); s == "" || s == "NEVER_RUN" {
				continue
			}
			last, latest = m, at
		}
	}
	if last != nil && last["status"] == "FATAL_ERROR" {
		message, _ := last["message"].(string)
		return failed("plan %v of the Instance failed%s", last["name"], because(message))
	}
	return ready()
}
