// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Trouble is what keeps a pod from being ready.
type Trouble struct {
	// Pod and UID name the pod; Container is empty if the pod as a whole is meant.
	Pod       string
	UID       types.UID
	Container string
	// Stuck says that the container waits for what seldom comes by itself: an image, a ConfigMap, the end of its crashes.
	Stuck bool
	// Crashes says that it is stuck because its program ends again and again.
	Crashes bool
	// Text says what is amiss: `ImagePullBackOff: Back-off pulling image "foo:1"`.
	Text string
}

// String is the text with the names of pod and container before it.
func (t Trouble) String() string {
	if t.Container == "" {
		return fmt.Sprintf("Pod %s: %s", t.Pod, t.Text)
	}
	return fmt.Sprintf("Pod %s: container %s: %s", t.Pod, t.Container, t.Text)
}

// Slow is the age from which a pod is in trouble that is starting without an error. Younger ones say nothing, so that the messages of
// a rollout that goes well do not change with every pod.
const Slow = time.Minute

// stuckReasons are the reasons of the kubelet for not running a container that somebody has to mend.
var stuckReasons = map[string]bool{
	"ErrImagePull": true, "ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true,
	"RegistryUnavailable": true, "SignatureValidationFailed": true, "CreateContainerConfigError": true, "CreateContainerError": true,
	"RunContainerError": true, crashLoop: true,
}

const crashLoop = "CrashLoopBackOff"

// Troubles says of each pod that is not well why. Pods that are being deleted are left out.
func Troubles(pods []*unstructured.Unstructured, now time.Time) []Trouble {
	var out []Trouble
	for _, obj := range pods {
		p := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, p); err != nil || p.DeletionTimestamp != nil {
			continue
		}
		out = append(out, troublesOf(p, now)...)
	}
	return out
}

func troublesOf(p *corev1.Pod, now time.Time) []Trouble {
	if p.Status.Phase == corev1.PodSucceeded || is(p, corev1.PodReady, corev1.ConditionTrue) {
		return nil
	}
	whole := func(format string, args ...any) []Trouble {
		return []Trouble{{Pod: p.Name, UID: p.UID, Text: fmt.Sprintf(format, args...)}}
	}
	if c := conditionOf(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return whole("%s%s", cmp.Or(c.Reason, "not scheduled"), because(oneLine(c.Message)))
	}
	var out []Trouble
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			if t, amiss := troubleOf(&list[i]); amiss {
				t.Pod, t.UID = p.Name, p.UID
				out = append(out, t)
			}
		}
	}
	switch {
	case len(out) > 0:
		return out
	case p.Status.Phase == corev1.PodFailed:
		return whole("%s%s", cmp.Or(p.Status.Reason, "it failed"), because(oneLine(p.Status.Message)))
	case now.Sub(p.CreationTimestamp.Time) < Slow:
		return nil
	}
	if c := conditionOf(p, corev1.PodReady); c != nil && c.Message != "" {
		return whole("not ready after more than a minute: %s", oneLine(c.Message))
	}
	return whole("not ready after more than a minute")
}

func troubleOf(c *corev1.ContainerStatus) (t Trouble, amiss bool) {
	t = Trouble{Container: c.Name}
	switch w, end := c.State.Waiting, c.State.Terminated; {
	case w != nil && w.Reason == crashLoop:
		t.Stuck, t.Crashes = true, true
		t.Text = crashLoop + because(exit(c.LastTerminationState.Terminated)) + restarts(c)
	case w != nil && w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing":
		t.Stuck, t.Text = stuckReasons[w.Reason], w.Reason+because(oneLine(w.Message))
	case end != nil && end.ExitCode != 0:
		t.Text = exit(end) + restarts(c)
	case c.State.Running != nil && !c.Ready && c.RestartCount > 0 && c.LastTerminationState.Terminated != nil && c.LastTerminationState.Terminated.ExitCode != 0:
		t.Text = "started again" + because(exit(c.LastTerminationState.Terminated)) + restarts(c)
	default:
		return t, false
	}
	return t, true
}

func exit(end *corev1.ContainerStateTerminated) string {
	if end == nil {
		return ""
	}
	text := fmt.Sprintf("exit code %d", end.ExitCode)
	if end.Reason != "" {
		text += " (" + end.Reason + ")"
	}
	return text + because(oneLine(end.Message))
}

func restarts(c *corev1.ContainerStatus) string {
	switch c.RestartCount {
	case 0:
		return ""
	case 1:
		return ", started again once"
	}
	return fmt.Sprintf(", started again %d times", c.RestartCount)
}

func conditionOf(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func is(p *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	c := conditionOf(p, kind)
	return c != nil && c.Status == status
}

// maxText bounds what programs say of themselves.
const maxText = 300

// oneLine is the end of a text, where programs say why they stopped, in one line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxText {
		s = "…" + strings.ToValidUTF8(s[len(s)-maxText:], "")
	}
	return s
}

// shown is how many pods a message names.
const shown = 2

// Describe puts troubles into one message, those that somebody has to mend first. It names few of them: the pods of a workload mostly
// have the same trouble.
func Describe(troubles []Trouble) string {
	var parts []string
	pods := map[string]bool{}
	for _, first := range []bool{true, false} {
		for _, t := range troubles {
			if t.Stuck != first {
				continue
			}
			if pods[t.Pod] = true; len(parts) < shown {
				parts = append(parts, t.String())
				delete(pods, t.Pod)
			}
		}
	}
	text := strings.Join(parts, "; ")
	switch len(pods) {
	case 0:
		return text
	case 1:
		return text + "; and one more pod"
	}
	return fmt.Sprintf("%s; and %d more pods", text, len(pods))
}
