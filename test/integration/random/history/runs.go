// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// checkIdentity looks for changes of what a run was started as.
func (c *checker) checkIdentity(r *runLine) {
	first := r.states[0].obj
	for _, s := range r.states[1:] {
		was, is := first.Spec.DeepCopy(), s.obj.Spec.DeepCopy()
		for _, spec := range []*v1beta1.PlanExecutionSpec{was, is} { // these may change
			spec.Suspend, spec.ActiveDeadlineSeconds, spec.TTLSecondsAfterFinished = false, nil, nil
		}
		if !apiequality.Semantic.DeepEqual(was, is) || s.obj.Name != first.Name || s.obj.Namespace != first.Namespace || owner(s.obj) != owner(first) {
			c.complain(RuleIdentity, s.obj, s.at, "version %d: it was %s %+v and is %s %+v", s.from, first.Name, *was, s.obj.Name, *is)
			return
		}
	}
}

// checkEnd looks for changes after the end, and for what the end left open.
func (c *checker) checkEnd(r *runLine) {
	var last *v1beta1.PlanExecution
	for _, s := range r.states {
		switch {
		case last != nil && !apiequality.Semantic.DeepEqual(last.Status, s.obj.Status):
			c.complain(RuleFinal, s.obj, s.at, "version %d: it had ended with %s (%q) and is %s (%q)", s.from, last.Status.Status, last.Status.Message, s.obj.Status.Status, s.obj.Status.Message)
			return
		case last == nil && ended(s.obj):
			last = s.obj
			if what := torn(s.obj); what != "" {
				c.complain(RuleTree, s.obj, s.at, "it is %s (%s), and %s", s.obj.Status.Status, failedFor(s.obj), what)
			}
		}
	}
}

// torn says what in the tree of a run that has ended contradicts the end; "" if nothing does. Below COMPLETE all is complete. Below
// FATAL_ERROR nothing goes on.
func torn(pe *v1beta1.PlanExecution) string {
	wrong := func(s v1beta1.ExecutionStatus) bool {
		if pe.Status.Status == v1beta1.ExecutionComplete {
			return s != v1beta1.ExecutionComplete
		}
		return s == v1beta1.ExecutionInProgress || s == v1beta1.ErrorStatus
	}
	complete := pe.Status.Status == v1beta1.ExecutionComplete
	if pe.Status.CompletionTime == nil {
		return "it has no time of completion"
	}
	for _, p := range pe.Status.Phases {
		if wrong(p.Status) {
			return fmt.Sprintf("phase %s is %s", p.Name, p.Status)
		}
		for _, s := range p.Steps {
			if wrong(s.Status) {
				return fmt.Sprintf("step %s.%s is %s", p.Name, s.Name, s.Status)
			}
			for _, t := range s.Tasks {
				if wrong(t.Status) {
					return fmt.Sprintf("task %s of step %s.%s is %s", t.Name, p.Name, s.Name, t.Status)
				}
			}
			for _, o := range s.Objects {
				if complete && !o.Ready {
					return fmt.Sprintf("object %s %s of step %s.%s is not ready", o.Kind, o.Name, p.Name, s.Name)
				}
			}
		}
	}
	return ""
}

// checkSteps looks for steps that were complete and are not any more.
func (c *checker) checkSteps(r *runLine) {
	complete := map[string]v1beta1.StepExecutionStatus{}
	for _, s := range r.states {
		there := 0
		for _, p := range s.obj.Status.Phases {
			for _, step := range p.Steps {
				name := p.Name + "." + step.Name
				before, was := complete[name]
				if was {
					there++
				}
				if was && (step.Status != v1beta1.ExecutionComplete || !before.StartTime.Equal(step.StartTime) || !before.CompletionTime.Equal(step.CompletionTime)) {
					c.complain(RuleStep, s.obj, s.at, "version %d: step %s was COMPLETE from %v to %v and is %s from %v to %v", s.from, name,
						before.StartTime, before.CompletionTime, step.Status, step.StartTime, step.CompletionTime)
					return
				}
				if step.Status == v1beta1.ExecutionComplete {
					if !was {
						there++
					}
					complete[name] = step
				}
			}
		}
		if there < len(complete) {
			c.complain(RuleStep, s.obj, s.at, "version %d: a step that was COMPLETE is not there any more", s.from)
			return
		}
	}
}

// checkWrites looks for writes of steps that were seen to be complete before. An observer sees the record after it was made, so what
// was written later than that was written after the record.
func (c *checker) checkWrites() {
	type ref struct {
		run         types.UID
		phase, step string
	}
	complete := map[ref]time.Time{}
	for uid, r := range c.runs.byUID {
		for _, s := range r.states {
			for _, p := range s.obj.Status.Phases {
				for _, step := range p.Steps {
					at := ref{uid, p.Name, step.Name}
					if _, known := complete[at]; !known && step.Status == v1beta1.ExecutionComplete {
						complete[at] = s.at
					}
				}
			}
		}
	}
	for _, w := range c.log.Writes {
		seen, was := complete[ref{w.Run, w.Phase, w.Step}]
		if was && w.At.After(seen) {
			c.complain(RuleWrite, c.runs.byUID[w.Run].obj(), w.At, "%s of %s by step %s.%s, %v after the step was seen to be complete", w.Verb, w.Object, w.Phase, w.Step, w.At.Sub(seen))
		}
	}
}

// logged tells whether runs have logs.
func (c *checker) logged() bool {
	for _, r := range c.runs.byUID {
		if len(r.obj().Status.Log) > 0 {
			return true
		}
	}
	return false
}

// checkLog looks for gaps in the log of a run and for entries that changed or went. If one run has a log, all that have begun have.
func (c *checker) checkLog(r *runLine) {
	if len(r.obj().Status.Log) == 0 && ended(r.obj()) && c.haveLogs {
		c.complain(RuleLog, r.obj(), end(r), "it has no log, and other runs have")
	}
	var last []v1beta1.PlanExecutionLogEntry
	for _, s := range r.states {
		entries := s.obj.Status.Log
		if what := spoilt(entries, last); what != "" {
			c.complain(RuleLog, s.obj, s.at, "version %d: %s", s.from, what)
			return
		}
		last = entries
	}
}

// spoilt says what is wrong with the log of a run that had the entries before.
func spoilt(entries, before []v1beta1.PlanExecutionLogEntry) string {
	if len(entries) < len(before) && len(entries) < v1beta1.MaxLogEntries {
		return fmt.Sprintf("it has %d entries and had %d", len(entries), len(before))
	}
	for i, e := range entries {
		switch {
		case i == 0 && e.Sequence != 1 && len(entries) < v1beta1.MaxLogEntries:
			return fmt.Sprintf("it begins with entry %d", e.Sequence)
		case i > 0 && e.Sequence != entries[i-1].Sequence+1 && len(entries) < v1beta1.MaxLogEntries:
			return fmt.Sprintf("entry %d follows entry %d", e.Sequence, entries[i-1].Sequence)
		case len(entries) < v1beta1.MaxLogEntries && i < len(before) && !apiequality.Semantic.DeepEqual(e, before[i]):
			return fmt.Sprintf("entry %d was %+v and is %+v", e.Sequence, before[i], e)
		}
	}
	return ""
}
