// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// plan triggers a plan and waits for its end.
func (j *journey) plan(t *testing.T, name string) *v1beta1.PlanExecution {
	t.Helper()
	pe, err := j.l.Kudo.KudoV1beta1().Instances(j.ns).CreatePlan(t.Context(), instance, &v1beta1.PlanTrigger{PlanName: name}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return j.ended(t, name, pe.UID)
}

// ended waits for the end of a run of a plan, any if uid is empty, and for the Instance to be free again.
func (j *journey) ended(t *testing.T, plan string, uid types.UID) *v1beta1.PlanExecution {
	t.Helper()
	var out *v1beta1.PlanExecution
	j.l.Instance(t, j.ns, instance, "to have run plan "+plan, func(i *v1beta1.Instance) bool {
		s, ok := i.Status.PlanStatus[plan]
		if !ok || !s.Status.IsTerminal() || i.Spec.PlanExecution.UID != "" || uid != "" && s.UID != uid {
			return false
		}
		uid = s.UID
		return true
	})
	list, err := j.l.Kudo.KudoV1beta1().PlanExecutions(j.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].UID == uid {
			out = &list.Items[i]
		}
	}
	if out == nil {
		t.Fatalf("there is no PlanExecution of the run %s of plan %s", uid, plan)
	}
	return out
}

func reason(run *v1beta1.PlanExecution) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, "Failed"); c != nil {
		return c.Reason
	}
	return ""
}

// change gives a parameter another value and expects another object.
func (j *journey) change(t *testing.T) {
	t.Helper()
	name, value := j.parameter()
	if name == "" {
		j.update = "no parameter for it"
		return
	}
	before := j.applied(t)
	old := map[string]types.UID{}
	for plan, s := range j.l.Unlocked(t, j.ns, instance).Status.PlanStatus {
		old[plan] = s.UID
	}
	if _, err := j.l.Plugin(t, "update", "--instance", instance, "-n", j.ns, "-p", name+"="+value); err != nil {
		t.Fatal(err)
	}
	var plan string
	j.l.Instance(t, j.ns, instance, "to have run a plan for a parameter", func(i *v1beta1.Instance) bool {
		for p, s := range i.Status.PlanStatus {
			if s.UID != old[p] {
				plan = p
			}
		}
		return plan != "" && i.Status.PlanStatus[plan].Status.IsTerminal()
	})
	run := j.ended(t, plan, "")
	j.update = fmt.Sprintf("%s=%s: ", name, value)
	if reason(run) == "UnknownKind" {
		j.update += "with foreign definitions of " + strings.Join(j.defineForeign(t), ", ") + ": "
		run = j.plan(t, plan)
	}
	j.update += fmt.Sprintf("%s %s", plan, run.Status.Status)
	if run.Status.Status != v1beta1.ExecutionComplete {
		t.Errorf("plan %s for %s=%s: %s", plan, name, value, run.Status.Message)
		return
	}
	different := 0
	for object, text := range j.applied(t) {
		if before[object] != text {
			different++
		}
	}
	if different == 0 {
		t.Errorf("no object differs after %s=%s", name, value)
	}
	j.update += fmt.Sprintf(", %d objects differ", different)
}

var (
	counts = regexp.MustCompile("(?i)count|replicas|nodes")
	word   = regexp.MustCompile("^[a-z]+$")
)

// parameter chooses what change changes: a number of replicas, else a word, of those that start deploy or update.
func (j *journey) parameter() (name, value string) {
	if name, value, ok := strings.Cut(changed[j.name], "="); ok {
		return name, value
	}
	candidates := slices.DeleteFunc(slices.Clone(j.version.Spec.Parameters), func(p v1beta1.Parameter) bool {
		return p.Default == nil || p.Immutable != nil && *p.Immutable || len(p.Enum) > 0 || p.Trigger != "" && p.Trigger != "deploy" && p.Trigger != "update"
	})
	for _, p := range candidates {
		if n, err := strconv.Atoi(*p.Default); err == nil && counts.MatchString(p.Name) {
			return p.Name, strconv.Itoa(n + 1)
		}
	}
	for _, p := range candidates {
		if word.MatchString(*p.Default) && *p.Default != "true" && *p.Default != "false" {
			return p.Name, *p.Default + "x"
		}
	}
	return "", ""
}

// runPlans runs each plan but deploy, which ran, and cleanup, which runs at the end.
func (j *journey) runPlans(t *testing.T) {
	t.Helper()
	var done []string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range j.version.Spec.Plans {
			if name != "deploy" && name != "cleanup" && !yield(name) {
				return
			}
		}
	}) {
		if j.endless(name) {
			j.cancelled(t, name)
			done = append(done, name+" waits, as written; cancelled")
			continue
		}
		run := j.plan(t, name)
		done = append(done, fmt.Sprintf("%s %s", name, run.Status.Status))
		if part, ok := failing[j.name+"/"+name]; ok {
			if run.Status.Status != v1beta1.ExecutionFatalError || !strings.Contains(run.Status.Message, part) {
				t.Errorf("plan %s: %s: %s, want a failure with %q", name, run.Status.Status, run.Status.Message, part)
			}
		} else if run.Status.Status != v1beta1.ExecutionComplete {
			t.Errorf("plan %s: %s", name, run.Status.Message)
		}
	}
	j.further = "none"
	if len(done) > 0 {
		j.further = strings.Join(done, ", ")
	}
}

// endless tells a plan with a task that only waits, by which packages keep parameters from being changed.
func (j *journey) endless(plan string) bool {
	tasks := map[string]v1beta1.Task{}
	for _, task := range j.version.Spec.Tasks {
		tasks[task.Name] = task
	}
	for _, phase := range j.version.Spec.Plans[plan].Phases {
		for _, step := range phase.Steps {
			for _, name := range step.Tasks {
				if task := tasks[name]; task.Kind == "Dummy" && !task.Spec.Done && !task.Spec.WantErr {
					return true
				}
			}
		}
	}
	return false
}

// cancelled starts a plan that waits, sees it wait, and ends it.
func (j *journey) cancelled(t *testing.T, plan string) {
	t.Helper()
	pe, err := j.l.Kudo.KudoV1beta1().Instances(j.ns).CreatePlan(t.Context(), instance, &v1beta1.PlanTrigger{PlanName: plan}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	j.l.Run(t, pe, "to wait in its step", func(pe *v1beta1.PlanExecution) bool {
		for _, phase := range pe.Status.Phases {
			for _, step := range phase.Steps {
				if step.Status == v1beta1.ExecutionInProgress {
					return true
				}
			}
		}
		return false
	})
	if _, err := j.l.Plugin(t, "plan", "cancel", "--instance", instance, "-n", j.ns); err != nil {
		t.Error(err)
	}
	j.l.Ended(t, pe, v1beta1.ExecutionFatalError)
	j.l.Unlocked(t, j.ns, instance)
}

// uninstall removes the Instance, its cleanup included, and expects what it owned to go.
func (j *journey) uninstall(t *testing.T) {
	t.Helper()
	cluster := j.unowned(t)
	if out, err := j.l.Plugin(t, "uninstall", "--instance", instance, "-n", j.ns, "--wait"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, o := range j.owned(t) {
		j.l.Object(t, o.resource, j.ns, o.name, "to go with its Instance", func(obj *unstructured.Unstructured) bool { return obj == nil })
	}
	for _, o := range cluster {
		j.l.Object(t, o.resource, "", o.name, "to be removed with its Instance", func(obj *unstructured.Unstructured) bool { return obj == nil })
	}
	j.end = "ok"
	if len(cluster) > 0 {
		j.end = fmt.Sprintf("ok, with %d objects in no namespace", len(cluster))
	}
	if _, ok := j.version.Spec.Plans["cleanup"]; ok {
		j.end += ", after cleanup"
	}
}
