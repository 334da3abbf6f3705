// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// tries is how often a container of a pipe pod may end with an error: what it downloads from may be away for a moment.
const tries = 4

// Progress says how far a pipe pod is.
type Progress struct {
	// Written means that the files can be read.
	Written bool
	// Failed names the container that will not get there, empty if none, and Message says why; otherwise what is waited for.
	Failed  string
	Message string
}

// ProgressOf reads the status of a pod. health is what is said of pods in general.
func ProgressOf(obj *unstructured.Unstructured, failed bool, health string) (Progress, error) {
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, pod); err != nil {
		return Progress{}, err
	}
	for _, group := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range group {
			if why := brokenDown(&c, pod.Status.Phase); why != "" {
				return Progress{Failed: c.Name, Message: why}, nil
			}
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		return Progress{Failed: Waiter, Message: "the pod has ended before its files were read: " + cmp.Or(pod.Status.Message, pod.Status.Reason, string(pod.Status.Phase))}, nil
	case failed:
		return Progress{Failed: container(pod), Message: health}, nil
	case pod.Status.Phase == corev1.PodRunning && ready(pod):
		return Progress{Written: true}, nil
	}
	if c := waits(pod); c != "" {
		return Progress{Message: c}, nil
	}
	return Progress{Message: cmp.Or(health, "the pod is not ready")}, nil
}

// brokenDown says why a container has ended for good, or has ended with an error too often.
func brokenDown(c *corev1.ContainerStatus, phase corev1.PodPhase) string {
	ended := c.State.Terminated
	if ended == nil {
		ended = c.LastTerminationState.Terminated
	}
	if ended == nil || ended.ExitCode == 0 && c.Name != Waiter {
		return ""
	}
	times := int(c.RestartCount)
	if c.State.Terminated != nil {
		times++
	}
	if times < tries && phase != corev1.PodFailed {
		return ""
	}
	out := fmt.Sprintf("container %s ended with exit code %d (%s)", c.Name, ended.ExitCode, cmp.Or(ended.Reason, "no reason"))
	if ended.Message != "" {
		out += ": " + ended.Message
	}
	if times > 1 {
		out += fmt.Sprintf(", the last of %d times", times)
	}
	return out
}

// waits says what a container waits for that does not start, or that it has failed and is tried again.
func waits(pod *corev1.Pod) string {
	for _, group := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range group {
			w := c.State.Waiting
			if w == nil || w.Reason == "PodInitializing" || w.Reason == "ContainerCreating" {
				continue
			}
			out := fmt.Sprintf("container %s: %s", c.Name, w.Reason)
			if w.Message != "" {
				out += ": " + w.Message
			}
			if l := c.LastTerminationState.Terminated; l != nil {
				out += fmt.Sprintf(" (exit code %d)", l.ExitCode)
			}
			return out
		}
	}
	return ""
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// container is the first one that does not run.
func container(pod *corev1.Pod) string {
	for _, c := range pod.Status.InitContainerStatuses {
		if c.State.Terminated == nil || c.State.Terminated.ExitCode != 0 {
			return c.Name
		}
	}
	return Waiter
}
