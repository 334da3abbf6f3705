// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lab

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Operator is the content of an OperatorVersion.
type Operator struct {
	Plans      map[string]v1beta1.Plan
	Tasks      []v1beta1.Task
	Templates  map[string]string
	Parameters []v1beta1.Parameter
}

// Serial is a plan of one phase, named main, with steps one after another. A step is written name=task,task; without the
// equals sign its task has its name.
func Serial(steps ...string) v1beta1.Plan { return plan(v1beta1.Serial, steps) }

// Parallel is a plan of one phase, named main, whose steps run at the same time.
func Parallel(steps ...string) v1beta1.Plan { return plan(v1beta1.Parallel, steps) }

func plan(strategy v1beta1.Ordering, steps []string) v1beta1.Plan {
	phase := v1beta1.Phase{Name: "main", Strategy: strategy}
	for _, s := range steps {
		name, tasks, ok := strings.Cut(s, "=")
		if !ok {
			tasks = name
		}
		step := v1beta1.Step{Name: name}
		if tasks != "" {
			step.Tasks = strings.Split(tasks, ",")
		}
		phase.Steps = append(phase.Steps, step)
	}
	return v1beta1.Plan{Strategy: v1beta1.Serial, Phases: []v1beta1.Phase{phase}}
}

// Apply is a task that applies templates.
func Apply(name string, templates ...string) v1beta1.Task {
	return v1beta1.Task{Name: name, Kind: v1beta1.ApplyTaskKind, Spec: v1beta1.TaskSpec{Resources: templates}}
}

// Delete is a task that deletes the objects of templates.
func Delete(name string, templates ...string) v1beta1.Task {
	return v1beta1.Task{Name: name, Kind: v1beta1.DeleteTaskKind, Spec: v1beta1.TaskSpec{Resources: templates}}
}

// Toggle is a task that applies or deletes the objects of templates.
func Toggle(name, parameter string, templates ...string) v1beta1.Task {
	return v1beta1.Task{Name: name, Kind: v1beta1.ToggleTaskKind, Spec: v1beta1.TaskSpec{Parameter: parameter, Resources: templates}}
}

// Done is a task that does nothing; Hold is one that waits until its run is ended.
func Done(name string) v1beta1.Task {
	return v1beta1.Task{Name: name, Kind: v1beta1.DummyTaskKind, Spec: v1beta1.TaskSpec{Done: true}}
}

// Hold is a task that waits until its run is ended.
func Hold(name string) v1beta1.Task { return v1beta1.Task{Name: name, Kind: v1beta1.DummyTaskKind} }

// Parameter is a parameter with a default.
func Parameter(name, value string) v1beta1.Parameter {
	return v1beta1.Parameter{Name: name, Default: &value}
}

// Install creates the OperatorVersion "op" and the Instance "sample", and returns the run of its deploy plan. A plan
// deploy that is not given is empty.
func (l *Lab) Install(t *testing.T, namespace string, o Operator, parameters map[string]string) *v1beta1.PlanExecution {
	t.Helper()
	if _, ok := o.Plans[v1beta1.DeployPlanName]; !ok {
		if o.Plans == nil {
			o.Plans = map[string]v1beta1.Plan{}
		}
		o.Plans[v1beta1.DeployPlanName] = v1beta1.Plan{}
	}
	ov := &v1beta1.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: "op", Namespace: namespace}, Spec: v1beta1.OperatorVersionSpec{
		Operator: v1beta1.ObjectReference{Name: "test"}, Version: "1.0.0", Plans: o.Plans, Tasks: o.Tasks, Templates: o.Templates, Parameters: o.Parameters}}
	if _, err := l.Kudo.KudoV1beta1().OperatorVersions(namespace).Create(t.Context(), ov, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	i, err := l.Kudo.KudoV1beta1().Instances(namespace).Create(t.Context(), &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: namespace},
		Spec: v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: "op"}, Parameters: parameters}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Holder(i)
}

// Deployed is Install that waits until the deploy plan is complete and the Instance is unlocked.
func (l *Lab) Deployed(t *testing.T, namespace string, o Operator) {
	t.Helper()
	l.Ended(t, l.Install(t, namespace, o, nil), v1beta1.ExecutionComplete)
	l.Unlocked(t, namespace, "sample")
}

// Holder names the run that holds an Instance.
func Holder(i *v1beta1.Instance) *v1beta1.PlanExecution {
	held := i.Spec.PlanExecution
	pe := &v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Namespace: i.Namespace, UID: held.UID}}
	if held.Template != nil {
		pe.Name = held.Template.Name
	}
	return pe
}

// Trigger starts a plan of the Instance "sample".
func (l *Lab) Trigger(t *testing.T, namespace, plan string) *v1beta1.PlanExecution {
	t.Helper()
	return l.Start(t, namespace, v1beta1.PlanExecutionSpec{PlanName: plan})
}

// Start creates a PlanExecution for the Instance "sample".
func (l *Lab) Start(t *testing.T, namespace string, spec v1beta1.PlanExecutionSpec) *v1beta1.PlanExecution {
	t.Helper()
	spec.InstanceName = "sample"
	pe, err := l.Kudo.KudoV1beta1().PlanExecutions(namespace).Create(t.Context(), &v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("plan %s started as %s", spec.PlanName, pe.Name)
	return pe
}

// Step returns a step of a run; the test fails if there is none.
func Step(t *testing.T, pe *v1beta1.PlanExecution, name string) v1beta1.StepExecutionStatus {
	t.Helper()
	for _, p := range pe.Status.Phases {
		for _, s := range p.Steps {
			if s.Name == name {
				return s
			}
		}
	}
	t.Fatalf("the run has no step %q: %+v", name, pe.Status)
	return v1beta1.StepExecutionStatus{}
}

// ConfigMap is a template.
func ConfigMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {value: %q}\n", name, value)
}

// Workload is a template of a Deployment or StatefulSet with one replica. Its pods run on nodes with the label, which may
// be empty.
func Workload(kind, name, label string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: %s}}\n"+
		"  template:\n    metadata: {labels: {app: %s}}\n    spec: {%scontainers: [{name: main, image: none}]}\n", kind, name, name, name, onNodes(label))
}

// Job is a template of a Job that is not tried twice.
func Job(name, label string) string {
	return fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {name: %s}\nspec:\n  backoffLimit: 0\n"+
		"  template:\n    spec: {%srestartPolicy: Never, containers: [{name: main, image: none}]}\n", name, onNodes(label))
}

func onNodes(label string) string {
	if label == "" {
		return ""
	}
	return fmt.Sprintf("nodeSelector: {%s: \"yes\"}, ", label)
}

// Allow lets pods that wait for a label run: it gives the label to the node.
func (l *Lab) Allow(t *testing.T, label string) {
	t.Helper()
	if _, err := l.Cluster.Kubectl("label", "node", "node1", label+"=yes"); err != nil {
		t.Fatal(err)
	}
}
