// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/watch"
)

// addPod adds a pod of the object with the uid u1, and waits until the informer has it.
func (c *cluster) addPod(t *testing.T, name, waiting string) {
	t.Helper()
	pod := &unstructured.Unstructured{}
	text := fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %[1]s, namespace: ns, uid: %[1]s, labels: {heritage: kudo, kudo.dev/instance: zk}, ownerReferences: [{kind: Job, name: j, uid: u1, controller: true}]}\n"+
		"status: {phase: Pending, containerStatuses: [{name: main, state: {waiting: {reason: %[2]s}}}]}", name, waiting)
	if err := yaml.Unmarshal([]byte(text), &pod.Object); err != nil {
		t.Fatal(err)
	}
	if err := c.dynamic.Tracker().Create(watch.PodsResource, pod, "ns"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if pods, _ := c.Hub.Owned(watch.PodsResource, "ns", "u1"); len(pods) > 0 && pods[len(pods)-1].GetName() == name {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the informer does not have the pod")
		}
	}
}

// TestStuckLimit: a Job whose pod cannot be started fails when the limit has passed, and not before. That a program of its own crashes
// is for the Job to count.
func TestStuckLimit(t *testing.T) {
	for _, c := range []struct {
		reason string
		limit  time.Duration
		want   engine.Outcome
	}{{"ErrImagePull", 10 * time.Minute, engine.Fatal}, {"CrashLoopBackOff", 10 * time.Minute, engine.Waiting}, {"ErrImagePull", 0, engine.Waiting}} {
		t.Run(fmt.Sprint(c.reason, c.limit), func(t *testing.T) {
			cl := newCluster(t)
			cl.Clock, cl.StuckLimit = cl.clock, c.limit
			r := runner(t, "Apply", v1beta1.TaskSpec{Resources: []string{"job"}})
			pass := func() Report {
				cl.Env.Fresh = true // the object itself is read; its pods come from the informer
				return r.Run(context.Background(), cl.Env)
			}
			pass()
			cl.addPod(t, "a", c.reason)
			got := pass()
			if got.Outcome != engine.Waiting || !strings.Contains(got.Message, "; Pod a: container main: "+c.reason) {
				t.Fatalf("at first: %+v", got)
			}
			if c.want == engine.Fatal && got.Recheck != c.limit {
				t.Errorf("looks again after %v", got.Recheck)
			}
			cl.clock.SetTime(cl.clock.Now().Add(9 * time.Minute))
			if got := pass(); got.Outcome != engine.Waiting {
				t.Fatalf("before the limit: %+v", got)
			}
			cl.clock.SetTime(cl.clock.Now().Add(time.Minute))
			got = pass()
			if got.Outcome != c.want {
				t.Fatalf("at the limit: %+v", got)
			}
			if c.want == engine.Fatal {
				if reason, _ := fault.Classify(got.Err); reason != fault.ReasonFailedObject || !strings.Contains(got.Err.Error(), "Job ns/j failed: Pod a: container main: ErrImagePull; it has been so for 10m0s") {
					t.Errorf("%s: %v", reason, got.Err)
				}
			}
		})
	}
}
