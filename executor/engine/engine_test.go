// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

var t0 = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// version makes a plan "deploy" from lines "phase/strategy: step=task,task step=task"; tasks a…z are defined.
func version(strategy v1beta1.Ordering, lines ...string) *v1beta1.OperatorVersionSpec {
	plan := v1beta1.Plan{Strategy: strategy}
	for _, l := range lines {
		head, rest, _ := strings.Cut(l, ":")
		name, order, _ := strings.Cut(head, "/")
		p := v1beta1.Phase{Name: name, Strategy: v1beta1.Ordering(order)}
		for s := range strings.FieldsSeq(rest) {
			step, tasks, _ := strings.Cut(s, "=")
			st := v1beta1.Step{Name: step}
			if tasks != "" {
				st.Tasks = strings.Split(tasks, ",")
			}
			p.Steps = append(p.Steps, st)
		}
		plan.Phases = append(plan.Phases, p)
	}
	v := &v1beta1.OperatorVersionSpec{Plans: map[string]v1beta1.Plan{"deploy": plan}, Version: "1.0.0"}
	for c := 'a'; c <= 'z'; c++ {
		v.Tasks = append(v.Tasks, v1beta1.Task{Name: string(c), Kind: v1beta1.DummyTaskKind})
	}
	return v
}

func started(t *testing.T, strategy v1beta1.Ordering, lines ...string) *v1beta1.PlanExecutionStatus {
	t.Helper()
	s := &v1beta1.PlanExecutionStatus{}
	Init(version(strategy, lines...), "deploy", s, t0)
	Advance(s, false, t0)
	return s
}

// changes says whether f changes s.
func changes(s *v1beta1.PlanExecutionStatus, f func()) bool {
	before := s.DeepCopy()
	f()
	return !cmp.Equal(before, s)
}

func runnable(s *v1beta1.PlanExecutionStatus, now time.Time) string {
	var out []string
	for _, r := range Runnable(s, now) {
		out = append(out, r.String())
	}
	return strings.Join(out, " ")
}

func report(task string, o Outcome) Result {
	return Result{Tasks: []TaskResult{{Task: task, Outcome: o, Reason: "Why", Message: "because"}}}
}

func ref(s string) StepRef {
	p, st, _ := strings.Cut(s, ".")
	return StepRef{Phase: p, Step: st}
}

// tree prints the statuses: C(omplete) I(n progress) P(ending) E(rror) F(atal), plan first.
func tree(s *v1beta1.PlanExecutionStatus) string {
	out := string(s.Status[0])
	for _, p := range s.Phases {
		out += " " + string(p.Status[0]) + "("
		for _, st := range p.Steps {
			out += string(st.Status[0])
		}
		out += ")"
	}
	return out
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name     string
		strategy v1beta1.Ordering
		lines    []string
		done     string // steps completed, in order, with "a" as their task
		want     string
		tree     string
	}{
		{"serial is the default", "", []string{"p: s=a t=a", "q: u=a"}, "", "p.s", "I I(IP) P(P)"},
		{"next step", "serial", []string{"p: s=a t=a", "q: u=a"}, "p.s", "p.t", "I I(CI) P(P)"},
		{"next phase", "serial", []string{"p: s=a t=a", "q: u=a"}, "p.s p.t", "q.u", "I C(CC) I(I)"},
		{"end", "serial", []string{"p: s=a t=a", "q: u=a"}, "p.s p.t q.u", "", "C C(CC) C(C)"},
		{"parallel phase", "serial", []string{"p/parallel: s=a t=a", "q: u=a"}, "", "p.s p.t", "I I(II) P(P)"},
		{"parallel plan", "parallel", []string{"p: s=a t=a", "q: u=a"}, "", "p.s q.u", "I I(IP) I(I)"},
		{"parallel plan goes on in each phase", "parallel", []string{"p: s=a t=a", "q: u=a"}, "p.s", "p.t q.u", "I I(CI) I(I)"},
		{"all parallel", "parallel", []string{"p/parallel: s=a t=a", "q/parallel: u=a"}, "", "p.s p.t q.u", "I I(II) I(I)"},
		{"an unknown strategy is serial", "stategy", []string{"p: s=a", "q: u=a"}, "", "p.s", "I I(I) P(P)"},
		{"empty plan", "serial", nil, "", "", "C"},
		{"empty phases and steps", "serial", []string{"p:", "q: s t", "r: u=a"}, "", "r.u", "I C() C(CC) I(I)"},
		{"only empty phases", "parallel", []string{"p:", "q:"}, "", "", "C C() C()"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := started(t, c.strategy, c.lines...)
			for r := range strings.FieldsSeq(c.done) {
				Record(s, "deploy", ref(r), report("a", Done), t0)
				Advance(s, false, t0)
			}
			if got := runnable(s, t0); got != c.want {
				t.Errorf("runnable: got %q, want %q", got, c.want)
			}
			if got := tree(s); got != c.tree {
				t.Errorf("tree: got %q, want %q", got, c.tree)
			}
		})
	}
}

func TestUnrunnablePlans(t *testing.T) {
	for _, c := range []struct {
		name, plan string
		lines      []string
		want       []string
		reason     string
	}{
		{"unknown plan", "backup", []string{"p: s=a"}, []string{"backup", "deploy"}, ReasonInvalidPlan},
		{"two phases", "deploy", []string{"p: s=a", "p: t=a"}, []string{"deploy", "two phases", `"p"`}, ReasonInvalidPlan},
		{"two steps", "deploy", []string{"p: s=a s=b"}, []string{"deploy.p", "two steps", `"s"`}, ReasonInvalidPlan},
		{"unknown task", "deploy", []string{"p: s=nope"}, []string{"deploy.p.s", `"nope"`, "a, b"}, ReasonUnknownTask},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &v1beta1.PlanExecutionStatus{}
			Init(version("serial", c.lines...), c.plan, s, t0)
			Advance(s, false, t0)
			cond := meta.FindStatusCondition(s.Conditions, v1beta1.FailedConditionType)
			if s.Status != v1beta1.ExecutionFatalError || cond == nil || cond.Reason != c.reason || s.CompletionTime == nil {
				t.Fatalf("got %+v", s)
			}
			for _, w := range c.want {
				if !strings.Contains(s.Message, w) || !strings.Contains(cond.Message, w) {
					t.Errorf("message %q lacks %q", s.Message, w)
				}
			}
			if runnable(s, t0) != "" {
				t.Error("something may still run")
			}
		})
	}
}

func TestInitKeepsWhatIsRecorded(t *testing.T) {
	v := version("serial", "p: s=a t=b,b,c")
	s := &v1beta1.PlanExecutionStatus{Status: v1beta1.ExecutionInProgress, Phases: []v1beta1.PhaseExecutionStatus{{Name: "p", Status: v1beta1.ExecutionInProgress,
		Steps: []v1beta1.StepExecutionStatus{{Name: "s", Status: v1beta1.ExecutionComplete, Attempts: 3}}}}}
	Init(v, "deploy", s, t0)
	if got := tree(s); got != "I I(CP)" || s.Phases[0].Steps[0].Attempts != 3 {
		t.Errorf("got %s", got)
	}
	want := []v1beta1.TaskExecutionStatus{{Name: "b", Status: "PENDING"}, {Name: "c", Status: "PENDING"}}
	if d := cmp.Diff(want, s.Phases[0].Steps[1].Tasks); d != "" {
		t.Error(d)
	}
	if changes(s, func() { Init(v, "deploy", s, t0.Add(time.Hour)) }) {
		t.Error("a second Init changed something")
	}
}
