// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func podOf(t *testing.T, name, status string) *unstructured.Unstructured {
	t.Helper()
	return parsed(t, fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, uid: u-%s, creationTimestamp: \"2030-01-01T11:59:30Z\"}\nstatus: %s", name, name, status))
}

func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		name, status, want string
		stuck              bool
	}{
		{name: "ready", status: "{phase: Running, conditions: [{type: Ready, status: \"True\"}]}"},
		{name: "finished", status: "{phase: Succeeded, conditions: [{type: Ready, status: \"False\"}]}"},
		{name: "starting", status: "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}"},
		{name: "nothing known", status: "{}"},
		{name: "unschedulable", status: "{phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: \"0/1 nodes are available: 1 Insufficient cpu.\"}]}",
			want: "Pod x: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu."},
		{name: "image", status: "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image \"foo:1\"'}}}]}",
			want: `Pod x: container app: ImagePullBackOff: Back-off pulling image "foo:1"`, stuck: true},
		{name: "init container", status: "{phase: Pending, initContainerStatuses: [{name: init, state: {waiting: {reason: ErrImagePull}}}], containerStatuses: [{name: app, state: {waiting: {reason: PodInitializing}}}]}",
			want: "Pod x: container init: ErrImagePull", stuck: true},
		{name: "image name", status: "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: InvalidImageName, message: couldn't parse}}}]}",
			want: "Pod x: container app: InvalidImageName: couldn't parse", stuck: true},
		{name: "config", status: "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: CreateContainerConfigError, message: 'configmap \"c\" not found'}}}]}",
			want: `Pod x: container app: CreateContainerConfigError: configmap "c" not found`, stuck: true},
		{name: "crashes", status: "{phase: Running, containerStatuses: [{name: app, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off 40s}}, lastState: {terminated: {exitCode: 1, reason: Error, message: \"no\\n config\"}}}]}",
			want: "Pod x: container app: CrashLoopBackOff: exit code 1 (Error): no config, started again 4 times", stuck: true},
		{name: "has just crashed", status: "{phase: Running, containerStatuses: [{name: app, restartCount: 1, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}",
			want: "Pod x: container app: exit code 137 (OOMKilled), started again once"},
		{name: "runs again", status: "{phase: Running, containerStatuses: [{name: app, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 2}}}]}",
			want: "Pod x: container app: started again: exit code 2, started again once"},
		{name: "failed", status: "{phase: Failed, containerStatuses: [{name: main, state: {terminated: {exitCode: 3, reason: Error, message: why}}}]}", want: "Pod x: container main: exit code 3 (Error): why"},
		{name: "evicted", status: "{phase: Failed, reason: Evicted, message: The node was low on memory.}", want: "Pod x: Evicted: The node was low on memory."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Troubles([]*unstructured.Unstructured{podOf(t, "x", c.status)}, noon)
			if text := Describe(got); text != c.want || len(got) > 0 && got[0].Stuck != c.stuck {
				t.Errorf("got %q, stuck %v", text, got)
			}
		})
	}
	slow := podOf(t, "x", "{phase: Running, conditions: [{type: Ready, status: \"False\", message: 'containers with unready status: [app]'}], containerStatuses: [{name: app, state: {running: {}}}]}")
	if got := Describe(Troubles([]*unstructured.Unstructured{slow}, noon.Add(time.Minute))); got != "Pod x: not ready after more than a minute: containers with unready status: [app]" {
		t.Errorf("slow: %q", got)
	}
	slow.SetDeletionTimestamp(new(metav1.NewTime(noon)))
	if got := Troubles([]*unstructured.Unstructured{slow}, noon.Add(time.Hour)); len(got) != 0 {
		t.Errorf("one that is being deleted: %v", got)
	}
}

// TestDescribe: the pods that somebody has to mend come first, and many do not make a long message.
func TestDescribe(t *testing.T) {
	var pods []*unstructured.Unstructured
	for n := range 5 {
		pods = append(pods, podOf(t, fmt.Sprint("p", n), "{phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}"))
	}
	pods = append(pods, podOf(t, "z", "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ErrImagePull, message: "+strings.Repeat("x", 5000)+"}}}]}"))
	got := Describe(Troubles(pods, noon))
	if !strings.HasPrefix(got, "Pod z: container app: ErrImagePull: …x") || !strings.HasSuffix(got, "; Pod p0: Unschedulable; and 4 more pods") || len(got) > 1000 {
		t.Errorf("got %s", got)
	}
	if got := Describe(Troubles(pods[:3], noon)); got != "Pod p0: Unschedulable; Pod p1: Unschedulable; and one more pod" {
		t.Errorf("got %s", got)
	}
}

// TestSpells: a container that crashes again and again is stuck all the time; one that has been well for a while begins anew.
func TestSpells(t *testing.T) {
	stuck := []Trouble{{Pod: "x", UID: "u", Container: "app", Stuck: true}}
	var s Spells
	for _, step := range []struct {
		after    time.Duration
		troubles []Trouble
		since    time.Duration
		none     bool
	}{
		{0, stuck, 0, false},
		{5 * time.Minute, stuck, 0, false},
		{6 * time.Minute, nil, 0, true}, // it runs for a minute
		{7 * time.Minute, stuck, 0, false},
		{8 * time.Minute, nil, 0, true},
		{20 * time.Minute, stuck, 20 * time.Minute, false}, // no event came in between
		{21 * time.Minute, nil, 0, true},
		{24 * time.Minute, nil, 0, true},
		{25 * time.Minute, stuck, 25 * time.Minute, false},
	} {
		longest, since := s.Longest(step.troubles, noon.Add(step.after))
		if (longest == nil) != step.none || !step.none && !since.Equal(noon.Add(step.since)) {
			t.Errorf("after %v: %v since %v", step.after, longest, since)
		}
	}
}

func TestStuckLimit(t *testing.T) {
	for text, want := range map[string]time.Duration{"": time.Hour, "30m": 30 * time.Minute, "0": 0, "0s": 0, "-1m": -1, "soon": -1, "10": -1} {
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		if text != "" {
			obj.SetAnnotations(map[string]string{AnnotationStuckLimit: text})
		}
		got, err := StuckLimit(obj, time.Hour)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
