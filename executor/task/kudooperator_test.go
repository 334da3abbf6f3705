// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/generated/clientset/versioned/fake"
)

// TestChildThatIsAsWanted: a child in which nothing has to be changed starts no plan. The task does not wait until its condition Ready is
// True, which nothing would make it, but says what is wrong; it does wait for the end of a plan of the child.
func TestChildThatIsAsWanted(t *testing.T) {
	for _, c := range []struct {
		name, ready, running, plan string
		want                       engine.Outcome
		message                    string
	}{
		{"well", "True", "", "COMPLETE", engine.Done, ""},
		{"an object is gone", "False", "", "COMPLETE", engine.Done, "its plan is complete, but it is not ready: Service ns/s: not found."},
		{"its deploy runs", "Unknown", "deploy", "IN_PROGRESS", engine.Waiting, "its plan deploy is under way"},
		{"its backup runs", "False", "backup", "COMPLETE", engine.Waiting, "its plan backup is under way"},
		{"its deploy failed", "Unknown", "", "FATAL_ERROR", engine.Fatal, "plan deploy failed: no message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newCluster(t)
			cl.Version.Name = "parent-1.0.0"
			ov := &v1beta1.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: "kid-1.0.0", Namespace: "ns"}, Spec: v1beta1.OperatorVersionSpec{Plans: map[string]v1beta1.Plan{"deploy": {}}}}
			cl.Kudo = fake.NewSimpleClientset(ov)
			i := &v1beta1.Instance{TypeMeta: metav1.TypeMeta{APIVersion: "kudo.dev/v1beta1", Kind: "Instance"},
				ObjectMeta: metav1.ObjectMeta{Name: "zk-kid", Namespace: "ns", UID: "kid", OwnerReferences: []metav1.OwnerReference{{APIVersion: "kudo.dev/v1beta1", Kind: "Instance", Name: "zk", UID: "iuid"}}},
				Spec:       v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: "kid-1.0.0"}, PlanExecution: v1beta1.InstancePlanExecution{PlanName: c.running}},
				Status: v1beta1.InstanceStatus{PlanStatus: map[string]v1beta1.PlanStatus{"deploy": {Name: "deploy", Status: v1beta1.ExecutionStatus(c.plan), LastUpdatedTimestamp: new(metav1.Now())}},
					Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionStatus(c.ready), Reason: "R", Message: "Service ns/s: not found"}}}}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(i)
			if err != nil {
				t.Fatal(err)
			}
			live := &unstructured.Unstructured{Object: content}
			if err := cl.dynamic.Tracker().Create(instances, live, "ns"); err != nil {
				t.Fatal(err)
			}
			cl.dynamic.PrependReactor("patch", "instances", func(clienttesting.Action) (bool, runtime.Object, error) { return true, live.DeepCopy(), nil })
			got := pass(t, cl, runner(t, "KudoOperator", v1beta1.TaskSpec{Package: "kid", OperatorVersion: "1.0.0"}), c.want)
			if o := got.Objects[0]; !strings.Contains(o.Message, c.message) || c.message == "" && o.Message != "" || o.Ready != (c.want == engine.Done) || o.UID != "kid" {
				t.Errorf("got %+v", o)
			}
		})
	}
}
