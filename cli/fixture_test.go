// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"bytes"
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/generated/clientset/versioned/fake"
)

// fixture is an environment with a cluster in memory.
type fixture struct {
	*environment
	client   *fake.Clientset
	out, err bytes.Buffer
}

func newFixture(t *testing.T, objects ...runtime.Object) *fixture {
	t.Helper()
	f := &fixture{client: fake.NewClientset(objects...)}
	server := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}, FakedServerVersion: &version.Info{GitVersion: "v1.36.3+k3s1"}}
	f.environment = &environment{
		IOStreams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &f.out, ErrOut: &f.err},
		flags:     genericclioptions.NewConfigFlags(true),
		connect: func() (*cluster, error) {
			return &cluster{kudo: f.client, version: server, namespace: "default"}, nil
		},
	}
	return f
}

// kudo runs kubectl kudo with arguments.
func (f *fixture) kudo(t *testing.T, args ...string) error {
	t.Helper()
	command := kudoCommand(f.environment)
	command.SetArgs(args)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return command.ExecuteContext(ctx)
}

// at is a time of the day on which all tests happen.
func at(clock string) *metav1.Time {
	t, err := time.Parse(time.DateTime, "2026-11-20 "+clock)
	if err != nil {
		panic(err)
	}
	return &metav1.Time{Time: t}
}

// testVersion is an OperatorVersion with the plans backup and deploy.
func testVersion() *v1beta1.OperatorVersion {
	return &v1beta1.OperatorVersion{
		ObjectMeta: metav1.ObjectMeta{Name: "kv-7.2-0.1.0", Namespace: "default"},
		Spec: v1beta1.OperatorVersionSpec{
			Operator: v1beta1.ObjectReference{Name: "kv"}, Version: "0.1.0", AppVersion: "7.2",
			Plans: map[string]v1beta1.Plan{
				"deploy": {Strategy: v1beta1.Serial, Phases: []v1beta1.Phase{
					{Name: "base", Strategy: v1beta1.Parallel, Steps: []v1beta1.Step{{Name: "settings"}, {Name: "access"}}},
					{Name: "nodes", Strategy: v1beta1.Serial, Steps: []v1beta1.Step{{Name: "nodes"}}},
				}},
				"backup": {Phases: []v1beta1.Phase{{Name: "backup", Steps: []v1beta1.Step{{Name: "copy"}}}}},
			},
		},
	}
}

func testInstance() *v1beta1.Instance {
	return &v1beta1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: "kv", Namespace: "default", CreationTimestamp: *at("10:00:00")},
		Spec:       v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: "kv-7.2-0.1.0"}},
	}
}

// testRun is a run of the plan deploy with the given states of its steps: settings, access, nodes.
func testRun(uid string, plan v1beta1.ExecutionStatus, steps ...v1beta1.StepExecutionStatus) *v1beta1.PlanExecution {
	run := &v1beta1.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{Name: "kv-deploy-" + uid, Namespace: "default", UID: types.UID(uid), CreationTimestamp: *at("10:00:00")},
		Spec:       v1beta1.PlanExecutionSpec{InstanceName: "kv", PlanName: "deploy"},
		Status:     v1beta1.PlanExecutionStatus{Status: plan, StartTime: at("10:00:01"), Strategy: v1beta1.Serial},
	}
	if len(steps) == 3 {
		run.Status.Phases = []v1beta1.PhaseExecutionStatus{
			{Name: "base", Strategy: v1beta1.Parallel, Status: worst(steps[:2]), Steps: steps[:2]},
			{Name: "nodes", Strategy: v1beta1.Serial, Status: worst(steps[2:]), Steps: steps[2:]},
		}
	}
	return run
}

// worst is the status of a phase with these steps, as far as tests need it.
func worst(steps []v1beta1.StepExecutionStatus) v1beta1.ExecutionStatus {
	for _, step := range steps {
		if step.Status != v1beta1.ExecutionComplete {
			if step.Status == v1beta1.ErrorStatus {
				return v1beta1.ExecutionInProgress
			}
			return step.Status
		}
	}
	return v1beta1.ExecutionComplete
}

func step(name string, status v1beta1.ExecutionStatus, message string) v1beta1.StepExecutionStatus {
	return v1beta1.StepExecutionStatus{Name: name, Status: status, Message: message}
}
