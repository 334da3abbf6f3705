// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// nowhere has the pods of a template be bound to a node that does not exist, so that nobody but the test writes their status.
func nowhere(template string) string {
	return strings.Replace(template, "spec: {", "spec: {nodeName: nowhere, ", 1)
}

const backOff = `{"phase":"Pending","containerStatuses":[{"name":"main","image":"none","imageID":"","ready":false,"restartCount":0,
"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image \"none\""}}}]}`

func says(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution, step string, parts ...string) {
	t.Helper()
	l.Run(t, pe, "to say "+strings.Join(parts, ", "), func(pe *v1beta1.PlanExecution) bool {
		for _, p := range parts {
			if !strings.Contains(lab.Step(t, pe, step).Message, p) {
				return false
			}
		}
		return true
	})
}

// TestStuckPods: a workload whose pods are stuck ends the run with the reason when the limit of the object has passed. The step says
// before that what it waits for.
func TestStuckPods(t *testing.T) {
	l := room.Enter(t)
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		t.Run(kind, func(t *testing.T) {
			ns := l.Namespace(t)
			template := nowhere(lab.Workload(kind, "app", ""))
			pe := l.Install(t, ns, lab.Operator{
				Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("app")},
				Tasks:     []v1beta1.Task{lab.Apply("app", "app")},
				Templates: map[string]string{"app": strings.Replace(template, "metadata: {name: app}", `metadata: {name: app, annotations: {kudo.dev/stuck-pod-limit: 5s}}`, 1)},
			}, nil)
			says(t, l, pe, "app", "0 of 1 replicas")
			pod(t, l, ns, "app", backOff)
			says(t, l, pe, "app", "waits for "+kind+" "+ns+"/app: 0 of 1 replicas", "; Pod app-", `: container main: ImagePullBackOff: Back-off pulling image "none"`)
			pe = l.Ended(t, pe, v1beta1.ExecutionFatalError)
			t.Log(pe.Status.Message)
			if c := meta.FindStatusCondition(pe.Status.Conditions, v1beta1.FailedConditionType); c == nil || c.Reason != "FailedTerminalStateError" {
				t.Errorf("condition %+v", c)
			}
			for _, part := range []string{kind + " " + ns + "/app failed: Pod app-", "ImagePullBackOff", "the limit is 5s"} {
				if !strings.Contains(pe.Status.Message, part) {
					t.Errorf("the message lacks %q: %s", part, pe.Status.Message)
				}
			}
			if c := ready(t, l, ns, metav1.ConditionUnknown, "ImagePullBackOff"); c.Reason != "PlanInFatalError" {
				t.Errorf("condition %+v", c)
			}
		})
	}
}

// TestMendedPods: a pod that is not stuck any more does not fail the run.
func TestMendedPods(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	pe := l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("app")},
		Tasks:     []v1beta1.Task{lab.Apply("app", "app")},
		Templates: map[string]string{"app": nowhere(lab.Workload("Deployment", "app", ""))},
	}, nil)
	says(t, l, pe, "app", "0 of 1 replicas")
	pod(t, l, ns, "app", backOff)
	says(t, l, pe, "app", "ImagePullBackOff")
	pod(t, l, ns, "app", `{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main","image":"none","imageID":"x","ready":true,"restartCount":0,"state":{"running":{}}}]}`)
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	ready(t, l, ns, metav1.ConditionTrue)
}

// TestFailedJobSaysWhy: the run says what the pod of the Job said last, and with which code it ended.
func TestFailedJobSaysWhy(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	pe := l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("job")},
		Tasks:     []v1beta1.Task{lab.Apply("job", "job")},
		Templates: map[string]string{"job": strings.Replace(nowhere(lab.Job("seed", "")), "    spec:", "    metadata: {labels: {app: seed}}\n    spec:", 1)},
	}, nil)
	says(t, l, pe, "job", "0 of 1 completions")
	pod(t, l, ns, "seed", `{"phase":"Failed","containerStatuses":[{"name":"main","image":"none","imageID":"x","ready":false,"restartCount":0,
"state":{"terminated":{"exitCode":3,"reason":"Error","message":"the schema\nis too old"}}}]}`)
	pe = l.Ended(t, pe, v1beta1.ExecutionFatalError)
	for _, part := range []string{"Job " + ns + "/seed failed: ", "has reached the specified backoff limit", "container main: exit code 3 (Error): the schema is too old"} {
		if !strings.Contains(pe.Status.Message, part) {
			t.Errorf("the message lacks %q: %s", part, pe.Status.Message)
		}
	}
}

// TestLimitThatSaysNothing: an annotation that cannot be read fails the run before anything is applied.
func TestLimitThatSaysNothing(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	pe := l.Ended(t, l.Install(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": lab.Serial("all")},
		Tasks: []v1beta1.Task{lab.Apply("all", "first", "app")},
		Templates: map[string]string{"first": lab.ConfigMap("first", ""),
			"app": strings.Replace(lab.Workload("Deployment", "app", ""), "metadata: {name: app}", "metadata: {name: app, annotations: {kudo.dev/stuck-pod-limit: soon}}", 1)},
	}, nil), v1beta1.ExecutionFatalError)
	if !strings.Contains(pe.Status.Message, `"app": Deployment `+ns+`/app: the annotation kudo.dev/stuck-pod-limit is "soon"; it must be a duration`) {
		t.Error(pe.Status.Message)
	}
	if _, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "first", metav1.GetOptions{}); err == nil {
		t.Error("the object before it was applied")
	}
}
