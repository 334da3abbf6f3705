// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}

const progressDeadlineExceeded = "ProgressDeadlineExceeded"

// Overdue names the one time at which the rollout of a Deployment exceeded its deadline; it is empty if it did not. The
// Deployment keeps that condition until it makes progress, also when it is applied again.
func Overdue(obj *unstructured.Unstructured) string {
	c := wholeCondition(obj, "Progressing")
	if obj.GroupVersionKind().GroupKind() != deployments || c["reason"] != progressDeadlineExceeded {
		return ""
	}
	return fmt.Sprint(c) // with the times in it; fmt sorts
}

func deployment(obj *unstructured.Unstructured, _ Lookup) Result {
	if _, reason, message := condition(obj, "Progressing"); reason == progressDeadlineExceeded {
		return failed("%s", cmp.Or(message, "the rollout exceeded progressDeadlineSeconds"))
	}
	if _, ok := observed(obj); !ok {
		return waiting("the deployment controller has not seen it")
	}
	want := integer(obj, 1, "spec", "replicas")
	updated, total := integer(obj, 0, "status", "updatedReplicas"), integer(obj, 0, "status", "replicas")
	available := integer(obj, 0, "status", "availableReplicas")
	switch {
	case updated < want:
		return waiting("%d of %d replicas updated", updated, want)
	case total > updated:
		return waiting("%d old replicas are to be terminated", total-updated)
	case available < updated:
		return waiting("%d of %d replicas available", available, updated)
	}
	return ready()
}

// statefulSet differs from kstatus in one point: with updateStrategy OnDelete somebody else replaces the pods, but a
// step still waits until there are as many ready ones as wanted.
func statefulSet(obj *unstructured.Unstructured, _ Lookup) Result {
	if seen, _ := observed(obj); seen < 1 {
		return waiting("the stateful set controller has not seen it")
	}
	want := integer(obj, 1, "spec", "replicas")
	total, have := integer(obj, 0, "status", "replicas"), integer(obj, 0, "status", "readyReplicas")
	updated := integer(obj, 0, "status", "updatedReplicas")
	switch {
	case have < want:
		return waiting("%d of %d replicas ready", have, want)
	case total > want:
		return waiting("%d replicas are to be terminated", total-want)
	case text(obj, "spec", "updateStrategy", "type") == "OnDelete":
		return ready()
	}
	partition := min(integer(obj, 0, "spec", "updateStrategy", "rollingUpdate", "partition"), want)
	if updated < want-partition {
		return waiting("%d of %d replicas updated", updated, want-partition)
	}
	if current, update := text(obj, "status", "currentRevision"), text(obj, "status", "updateRevision"); partition == 0 && current != update {
		return waiting("the rollout of revision %s is not finished", update)
	}
	return ready()
}

func daemonSet(obj *unstructured.Unstructured, _ Lookup) Result {
	if _, ok := observed(obj); !ok {
		return waiting("the daemon set controller has not seen it")
	}
	want := integer(obj, 0, "status", "desiredNumberScheduled")
	updated, available := integer(obj, 0, "status", "updatedNumberScheduled"), integer(obj, 0, "status", "numberAvailable")
	switch {
	case text(obj, "spec", "updateStrategy", "type") != "OnDelete" && updated < want:
		return waiting("%d of %d pods updated", updated, want)
	case available < want:
		return waiting("%d of %d pods available", available, want)
	}
	return ready()
}

func replicas(obj *unstructured.Unstructured, _ Lookup) Result {
	if _, ok := observed(obj); !ok {
		return waiting("its controller has not seen it")
	}
	want, have := integer(obj, 1, "spec", "replicas"), integer(obj, 0, "status", "availableReplicas")
	if have < want {
		message := ""
		if value, _, m := condition(obj, "ReplicaFailure"); value == "True" {
			message = ": " + m
		}
		return waiting("%d of %d replicas available%s", have, want, message)
	}
	return ready()
}

// job is ready when it has finished, which is what a step that runs a Job waits for.
func job(obj *unstructured.Unstructured, _ Lookup) Result {
	if value, reason, message := condition(obj, "Failed"); value == "True" {
		return failed("the Job failed: %s", cmp.Or(message, reason, "no message"))
	}
	if value, _, _ := condition(obj, "Complete"); value == "True" {
		return ready()
	}
	if suspended, _, _ := unstructured.NestedBool(obj.Object, "spec", "suspend"); suspended {
		return waiting("the Job is suspended")
	}
	done := integer(obj, 0, "status", "succeeded")
	bad := integer(obj, 0, "status", "failed")
	want := integer(obj, integer(obj, 1, "spec", "parallelism"), "spec", "completions")
	if bad > 0 {
		return waiting("%d of %d completions, %d pods failed", done, want, bad)
	}
	return waiting("%d of %d completions", done, want)
}

// pod that has run to its end is ready: a step that applies a bare pod waits for its work.
func pod(obj *unstructured.Unstructured, _ Lookup) Result {
	switch phase := text(obj, "status", "phase"); phase {
	case "Succeeded":
		return ready()
	case "Failed":
		return failed("the pod failed: %s", cmp.Or(text(obj, "status", "message"), text(obj, "status", "reason"), "a container ended with an error"))
	case "Running":
		value, _, message := condition(obj, "Ready")
		if value == "True" {
			return ready()
		}
		return waiting("the pod runs but is not ready%s", because(message, waitingContainer(obj)))
	default:
		_, _, message := condition(obj, "PodScheduled")
		return waiting("the pod is %s%s", cmp.Or(phase, "not scheduled"), because(message, waitingContainer(obj)))
	}
}

func because(reasons ...string) string {
	var out strings.Builder
	for _, r := range reasons {
		if r != "" {
			out.WriteString(": " + r)
		}
	}
	return out.String()
}

func waitingContainer(obj *unstructured.Unstructured) string {
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		containers, _, _ := unstructured.NestedSlice(obj.Object, "status", list)
		for _, c := range containers {
			m, _ := c.(map[string]any)
			reason, _, _ := unstructured.NestedString(m, "state", "waiting", "reason")
			if name, _ := m["name"].(string); reason != "" && reason != "ContainerCreating" && reason != "PodInitializing" {
				return "container " + name + ": " + reason
			}
		}
	}
	return ""
}
