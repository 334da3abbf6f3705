// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// TestRandomRuns carries out random plans with random outcomes and restarts and checks what must always hold.
func TestRandomRuns(t *testing.T) {
	for seed := range int64(1500) {
		if err := randomRun(rand.New(rand.NewSource(seed))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func randomPlan(r *rand.Rand) *v1beta1.OperatorVersionSpec {
	strategies := []v1beta1.Ordering{"", v1beta1.Serial, v1beta1.Parallel}
	plan := v1beta1.Plan{Strategy: strategies[r.Intn(3)]}
	for i := range r.Intn(5) {
		p := v1beta1.Phase{Name: fmt.Sprint("p", i), Strategy: strategies[r.Intn(3)]}
		for j := range r.Intn(5) {
			s := v1beta1.Step{Name: fmt.Sprint("s", j)}
			for range r.Intn(4) {
				s.Tasks = append(s.Tasks, string(rune('a'+r.Intn(4))))
			}
			p.Steps = append(p.Steps, s)
		}
		plan.Phases = append(plan.Phases, p)
	}
	v := version("serial")
	v.Plans["deploy"] = plan
	return v
}

func randomRun(r *rand.Rand) error {
	v := randomPlan(r)
	fatal, now := r.Intn(4) == 0, t0
	s := &v1beta1.PlanExecutionStatus{}
	complete := map[StepRef]bool{}
	for pass := 0; ; pass++ {
		if pass > 2000 {
			return fmt.Errorf("the run does not end: %s", tree(s))
		}
		suspend := r.Intn(5) == 0
		begunBefore := countBegun(s)
		Init(v, "deploy", s, now)
		Advance(s, suspend, now)
		if suspend && countBegun(s) > begunBefore {
			return fmt.Errorf("a step began while held")
		}
		if err := whole(v, s, complete); err != nil {
			return err
		}
		if Terminal(s.Status) {
			if rs := Runnable(s, now.Add(time.Hour)); rs != nil || changes(s, func() { Advance(s, false, now) }) {
				return fmt.Errorf("after the end: %v", rs)
			}
			if s.Status == v1beta1.ExecutionFatalError != anyFatal(s) {
				return fmt.Errorf("the end does not follow from the steps: %s", tree(s))
			}
			return nil
		}
		stored := s.DeepCopy()
		for _, ref := range Runnable(s, now) {
			if complete[ref] {
				return fmt.Errorf("step %s runs again", ref)
			}
			if err := inOrder(s, ref); err != nil {
				return err
			}
			Record(s, "deploy", ref, randomResult(r, Step(s, ref), fatal), now)
		}
		if r.Intn(6) == 0 {
			s = stored // a crash before the status was written
		}
		for _, p := range s.Phases {
			for _, st := range p.Steps {
				if st.Status == v1beta1.ExecutionComplete {
					complete[StepRef{p.Name, st.Name}] = true
				}
			}
		}
		if next := NextTime(&v1beta1.PlanExecutionSpec{}, s); !next.IsZero() && r.Intn(2) == 0 {
			now = next
		}
		now = now.Add(time.Duration(r.Intn(3000)) * time.Millisecond)
	}
}

func randomResult(r *rand.Rand, s *v1beta1.StepExecutionStatus, fatal bool) Result {
	outcomes := []Outcome{Done, Done, Done, Waiting, Retry}
	if fatal {
		outcomes = append(outcomes, Fatal)
	}
	var out Result
	for _, t := range s.Tasks {
		if t.Status == v1beta1.ExecutionComplete {
			continue
		}
		o := outcomes[r.Intn(len(outcomes))]
		out.Tasks = append(out.Tasks, TaskResult{Task: t.Name, Outcome: o, Message: "m"})
		if o == Retry || o == Fatal {
			break
		}
	}
	out.Spread = r.Float64()
	return out
}

// inOrder says that everything that must come before the step is complete.
func inOrder(s *v1beta1.PlanExecutionStatus, ref StepRef) error {
	for _, p := range s.Phases {
		if p.Name == ref.Phase {
			for _, st := range p.Steps {
				if st.Name == ref.Step {
					return nil
				}
				if p.Strategy != v1beta1.Parallel && st.Status != v1beta1.ExecutionComplete {
					return fmt.Errorf("%s runs before %s.%s is complete", ref, p.Name, st.Name)
				}
			}
		}
		if s.Strategy != v1beta1.Parallel && p.Status != v1beta1.ExecutionComplete {
			return fmt.Errorf("%s runs before phase %s is complete", ref, p.Name)
		}
	}
	return fmt.Errorf("%s is not in the tree", ref)
}

// whole says that the tree is that of the plan, that times fit statuses and that what was complete still is.
func whole(v *v1beta1.OperatorVersionSpec, s *v1beta1.PlanExecutionStatus, complete map[StepRef]bool) error {
	plan := v.Plans["deploy"]
	if len(s.Phases) != len(plan.Phases) {
		return fmt.Errorf("%d phases, want %d", len(s.Phases), len(plan.Phases))
	}
	for i, p := range s.Phases {
		if p.Name != plan.Phases[i].Name || len(p.Steps) != len(plan.Phases[i].Steps) {
			return fmt.Errorf("phase %d is %s with %d steps", i, p.Name, len(p.Steps))
		}
		done := 0
		for _, st := range p.Steps {
			if st.Status == v1beta1.ExecutionComplete {
				done++
			} else if complete[StepRef{p.Name, st.Name}] {
				return fmt.Errorf("%s.%s was complete and is %s", p.Name, st.Name, st.Status)
			}
			if (st.StartTime == nil) != (st.Status == v1beta1.ExecutionPending) || (st.CompletionTime != nil) != Terminal(st.Status) {
				return fmt.Errorf("%s.%s is %s from %v to %v", p.Name, st.Name, st.Status, st.StartTime, st.CompletionTime)
			}
		}
		if p.Status == v1beta1.ExecutionComplete && done != len(p.Steps) {
			return fmt.Errorf("phase %s is complete, its steps are not", p.Name)
		}
	}
	if (s.CompletionTime != nil) != Terminal(s.Status) {
		return fmt.Errorf("plan is %s and ended at %v", s.Status, s.CompletionTime)
	}
	return nil
}

func countBegun(s *v1beta1.PlanExecutionStatus) (n int) {
	for _, p := range s.Phases {
		for _, st := range p.Steps {
			if st.Status != v1beta1.ExecutionPending {
				n++
			}
		}
	}
	return n
}

func anyFatal(s *v1beta1.PlanExecutionStatus) bool {
	for _, p := range s.Phases {
		for _, st := range p.Steps {
			if st.Status == v1beta1.ExecutionFatalError {
				return true
			}
		}
	}
	return false
}
