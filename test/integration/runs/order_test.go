// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package runs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestSerial: steps and phases run one after another, each object made when all before it are there.
func TestSerial(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	o := lab.Operator{Templates: map[string]string{}, Plans: map[string]v1beta1.Plan{}}
	var plan v1beta1.Plan
	var names []string
	for p := range 3 {
		phase := v1beta1.Phase{Name: fmt.Sprintf("p%d", p)}
		for s := range 4 {
			name := fmt.Sprintf("c%d%d", p, s)
			names = append(names, name)
			phase.Steps = append(phase.Steps, v1beta1.Step{Name: name, Tasks: []string{name}})
			o.Tasks = append(o.Tasks, lab.Apply(name, name))
			o.Templates[name] = lab.ConfigMap(name, "{{ .PhaseName }}.{{ .StepName }}")
		}
		plan.Phases = append(plan.Phases, phase)
	}
	o.Plans["deploy"] = plan
	pe := l.Ended(t, l.Install(t, ns, o, nil), v1beta1.ExecutionComplete)
	last := uint64(0)
	var ended *metav1.Time
	for _, name := range names {
		s := lab.Step(t, pe, name)
		if ended != nil && s.StartTime.Before(ended) {
			t.Errorf("step %s began at %v, before the step before it ended at %v", name, s.StartTime, ended)
		}
		ended = s.CompletionTime
		cm, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		version, err := strconv.ParseUint(cm.ResourceVersion, 10, 64)
		if err != nil || version <= last {
			t.Errorf("%s has version %s, the object before it %d (%v)", name, cm.ResourceVersion, last, err)
		}
		last = version
		if want := cm.Annotations["kudo.dev/phase"] + "." + name; cm.Data["value"] != want {
			t.Errorf("%s has %q, want %q", name, cm.Data["value"], want)
		}
		if got := cm.Annotations["kudo.dev/last-plan-execution-uid"]; got != string(pe.UID) {
			t.Errorf("%s is of run %s, want %s", name, got, pe.UID)
		}
	}
}

// TestParallel: of steps that run at the same time one goes on while another waits; the next phase waits for both.
func TestParallel(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	label := "test/" + ns
	plan := lab.Parallel("slow", "slower", "quick")
	plan.Phases = append(plan.Phases, v1beta1.Phase{Name: "after", Steps: []v1beta1.Step{{Name: "after", Tasks: []string{"after"}}}})
	pe := l.Install(t, ns, lab.Operator{
		Plans: map[string]v1beta1.Plan{"deploy": plan},
		Tasks: []v1beta1.Task{lab.Apply("slow", "slow"), lab.Apply("slower", "slower"), lab.Apply("quick", "quick"), lab.Apply("after", "after")},
		Templates: map[string]string{
			"slow": lab.Workload("Deployment", "slow", label), "slower": lab.Workload("Deployment", "slower", label+"-2"),
			"quick": lab.ConfigMap("quick", ""), "after": lab.ConfigMap("after", "")},
	}, nil)
	expect := func(what string, want map[string]v1beta1.ExecutionStatus) *v1beta1.PlanExecution {
		return l.Run(t, pe, what, func(pe *v1beta1.PlanExecution) bool {
			for name, status := range want {
				if lab.Step(t, pe, name).Status != status {
					return false
				}
			}
			return true
		})
	}
	t.Log("both workloads have no node; the third step needs none")
	now := expect("to have one step complete and two in progress", map[string]v1beta1.ExecutionStatus{"slow": "IN_PROGRESS", "slower": "IN_PROGRESS", "quick": "COMPLETE", "after": "PENDING"})
	if a, b := lab.Step(t, now, "slow"), lab.Step(t, now, "slower"); !a.StartTime.Equal(b.StartTime) {
		t.Errorf("began at %v and %v", a.StartTime, b.StartTime)
	}
	l.Allow(t, label+"-2")
	expect("to have the second listed step complete before the first", map[string]v1beta1.ExecutionStatus{"slow": "IN_PROGRESS", "slower": "COMPLETE", "after": "PENDING"})
	if _, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "after", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the next phase began too early: %v", err)
	}
	l.Allow(t, label)
	l.Ended(t, pe, v1beta1.ExecutionComplete)
}

// TestEmpty: what has nothing to do is complete, with a whole tree.
func TestEmpty(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, lab.Operator{Plans: map[string]v1beta1.Plan{
		"no-steps": {Phases: []v1beta1.Phase{{Name: "none"}}},
		"no-tasks": lab.Serial("a=", "b="),
	}})
	for _, plan := range []string{"deploy", "no-steps", "no-tasks"} {
		pe := l.Ended(t, l.Trigger(t, ns, plan), v1beta1.ExecutionComplete)
		for _, p := range pe.Status.Phases {
			if p.Status != v1beta1.ExecutionComplete {
				t.Errorf("%s: phase %+v", plan, p)
			}
			for _, s := range p.Steps {
				if s.Status != v1beta1.ExecutionComplete || s.CompletionTime == nil {
					t.Errorf("%s: step %+v", plan, s)
				}
			}
		}
		l.Unlocked(t, ns, "sample")
	}
}

// TestDelete: a Delete task waits until its object is gone, says what holds it, and needs none.
func TestDelete(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	held := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [test.kudo.dev/hold]}\n"
	l.Deployed(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("held"), "remove": lab.Serial("remove", "after")},
		Tasks:     []v1beta1.Task{lab.Apply("held", "held"), lab.Delete("remove", "held", "absent"), lab.Apply("after", "after")},
		Templates: map[string]string{"held": held, "absent": lab.ConfigMap("absent", ""), "after": lab.ConfigMap("after", "")},
	})
	pe := l.Trigger(t, ns, "remove")
	step := lab.Step(t, l.Run(t, pe, "to wait", func(pe *v1beta1.PlanExecution) bool {
		return lab.Step(t, pe, "remove").Message != ""
	}), "remove")
	for _, part := range []string{"task remove: waits until ConfigMap " + ns + "/held is gone", "finalizers test.kudo.dev/hold"} {
		if step.Status != v1beta1.ExecutionInProgress || !strings.Contains(step.Message, part) {
			t.Errorf("%s: %q lacks %q", step.Status, step.Message, part)
		}
	}
	if _, err := l.Kube.CoreV1().ConfigMaps(ns).Patch(t.Context(), "held", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	l.Ended(t, pe, v1beta1.ExecutionComplete)
	l.Object(t, lab.ConfigMaps, ns, "held", "to be gone", func(obj *unstructured.Unstructured) bool { return obj == nil })
	l.Unlocked(t, ns, "sample")
	l.Ended(t, l.Trigger(t, ns, "remove"), v1beta1.ExecutionComplete) // nothing is left to delete
}

// TestToggle: a parameter says whether the objects are there.
func TestToggle(t *testing.T) {
	t.Parallel()
	l := room.Enter(t)
	ns := l.Namespace(t)
	l.Deployed(t, ns, lab.Operator{
		Plans:      map[string]v1beta1.Plan{"deploy": lab.Serial("toggle")},
		Tasks:      []v1beta1.Task{lab.Toggle("toggle", "on", "cm")},
		Templates:  map[string]string{"cm": lab.ConfigMap("cm", "")},
		Parameters: []v1beta1.Parameter{lab.Parameter("on", "false")},
	})
	present := func() bool {
		_, err := l.Kube.CoreV1().ConfigMaps(ns).Get(t.Context(), "cm", metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	if present() {
		t.Error("there by the default, which is false")
	}
	for _, on := range []bool{true, true, false, false, true} {
		value := strconv.FormatBool(on)
		pe := l.Start(t, ns, v1beta1.PlanExecutionSpec{PlanName: "deploy", Parameters: map[string]string{"on": value}})
		l.Ended(t, pe, v1beta1.ExecutionComplete)
		if got := present(); got != on {
			t.Errorf("with %s it is there: %v", value, got)
		}
		l.Unlocked(t, ns, "sample")
	}
}
