// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// TestGoodHistories: what may happen is not complained about.
func TestGoodHistories(t *testing.T) {
	for _, goes := range []bool{false, true} {
		for _, v := range Check(&all(goes).log) {
			t.Errorf("with deletion %v: %s", goes, v)
		}
	}
}

// states are all the states of a run that a story tells, in order.
func (s *story) states(name string) []*v1beta1.PlanExecution {
	var out []*v1beta1.PlanExecution
	for _, e := range s.log.Runs {
		for _, pe := range e.Objects {
			if pe.Name == name && e.Type == Seen {
				out = append(out, pe)
			}
		}
	}
	return out
}

func (s *story) end(name string) *v1beta1.PlanExecution {
	states := s.states(name)
	return states[len(states)-1]
}

// drop takes events out of a story.
func drop[T metav1.Object](events []Event[T], unwanted func(Event[T]) bool) []Event[T] {
	var out []Event[T]
	for _, e := range events {
		if !unwanted(e) {
			out = append(out, e)
		}
	}
	return out
}

// unseen drops all that was seen of a run.
func (s *story) unseen(name string) {
	for i := range s.log.Runs {
		e := &s.log.Runs[i]
		var left []*v1beta1.PlanExecution
		for _, pe := range e.Objects {
			if pe.Name != name {
				left = append(left, pe)
			}
		}
		e.Objects = left
	}
	s.log.Runs = drop(s.log.Runs, func(e Event[*v1beta1.PlanExecution]) bool {
		return len(e.Objects) == 0 && (e.Type == Seen || e.Type == Gone)
	})
}

func (s *story) op(kind Kind, outcome Outcome, nth int) *Operation {
	for i := range s.log.Operations {
		if o := &s.log.Operations[i]; o.Kind == kind && o.Outcome == outcome {
			if nth == 0 {
				return o
			}
			nth--
		}
	}
	panic("the story has no such operation")
}

// rename makes what is told about one run be told about another.
func (s *story) rename(from, to string) {
	for _, e := range s.log.Runs {
		for _, pe := range e.Objects {
			if pe.Name == from {
				pe.Name, pe.UID = to, types.UID("uid-"+to)
			}
		}
	}
}

// TestBadHistories: for each rule, a history that breaks it in one place.
func TestBadHistories(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rule  Rule
		says  string
		goes  bool
		spoil func(*story)
	}{
		{"an accepted run is never seen", RuleAccepted, "was never seen", false, func(s *story) { s.unseen("new") }},
		{"an accepted cleanup is never seen, and the Instance stays", RuleAccepted, "was never seen", false, func(s *story) {
			s.operation(Delete, Accepted, "cleanup", "cleanup")
		}},
		{"an accepted run has another identity", RuleAccepted, "names run quick", false, func(s *story) { s.rename("quick", "other") }},
		{"an accepted run is there twice", RuleAccepted, "started 2 runs", false, func(s *story) {
			s.started["twin"] = s.op(Trigger, Accepted, 0).ID
			s.whole("twin", "quick", v1beta1.TriggerManual)
		}},
		{"the same run is promised twice", RuleAccepted, "and so was operation", false, func(s *story) {
			s.operation(Patch, Accepted, "", "quick").Started = &RunRef{"stopped", "uid-stopped"}
		}},
		{"an accepted trigger is answered without a run", RuleAccepted, "names no run", false, func(s *story) { s.operation(Trigger, Accepted, "", "quick") }},
		{"a refused trigger runs", RuleRefused, "it was refused", false, func(s *story) {
			s.started["ghost"] = s.op(Trigger, Refused, 0).ID
			s.whole("ghost", "quick", v1beta1.TriggerManual)
		}},
		{"a refused change runs", RuleRefused, "it was refused", false, func(s *story) { s.op(Change, Accepted, 1).Outcome = Refused }},
		{"a trigger without an answer runs twice", RuleUnknown, "started 2 runs", false, func(s *story) {
			s.started["twin"] = s.op(Trigger, Unknown, 0).ID
			s.whole("twin", "quick", v1beta1.TriggerManual)
		}},
		{"a run that nobody asked for", RuleAsked, "nobody asked", false, func(s *story) { s.whole("ghost", "quick", v1beta1.TriggerManual) }},
		{"an old client's trigger that was refused runs", RuleAsked, "nobody asked", false, func(s *story) {
			o := s.op(Patch, Accepted, 0)
			o.Outcome, o.Started = Refused, nil
		}},
		{"another plan runs than was asked for", RuleAsked, "plan deploy runs", false, func(s *story) { s.op(Change, Accepted, 0).Plans = []string{"backup"} }},
		{"the name of another client", RuleRequester, "names \"alice\"", false, func(s *story) { s.op(Trigger, Accepted, 0).Client = "bob" }},
		{"a run goes by itself", RuleKept, "nobody deleted it", false, func(s *story) { s.op(Forget, Accepted, 0).Outcome = Refused }},
		{"a run goes during an outage", RuleKept, "nobody deleted it", false, func(s *story) {
			delete(s.runs, "new")
			s.broken()
			s.listed()
		}},
		{"two unfinished runs", RuleOne, "unfinished from", false, func(s *story) {
			s.operation(Trigger, Accepted, "left", "quick")
			s.created("left", "quick", v1beta1.TriggerManual)
			s.operation(Trigger, Accepted, "right", "quick")
			s.created("right", "quick", v1beta1.TriggerManual)
			s.ended("left", "", "")
			s.ended("right", "", "")
		}},
		{"an unfinished run without the lock", RuleOne, "locked by \"\"", false, func(s *story) {
			s.operation(Trigger, Accepted, "free", "quick")
			s.created("free", "quick", v1beta1.TriggerManual)
			s.instance(func(*v1beta1.Instance) {})
			s.ended("free", "", "")
		}},
		{"an unfinished run whose lock another took without being its successor", RuleOne, "locked by \"uid-new\"", false, func(s *story) {
			for _, e := range s.log.Instances {
				for _, i := range e.Objects {
					if i.Spec.PlanExecution.Template != nil {
						i.Spec.PlanExecution.Template.Annotations = nil
					}
				}
			}
		}},
		{"a superseded run that goes on for four seconds", RuleOne, "ended 4", false, func(s *story) { s.later(s.end("old"), 4*time.Second) }},
		{"a lock that stays for four seconds", RuleRelease, "locked for 4", false, func(s *story) { s.late(4 * time.Second) }},
		{"a lock that is never released", RuleRelease, "after its end", false, func(s *story) {
			s.lock("new", "deploy")
			s.log.End = s.now.Add(time.Minute)
		}},
		{"a complete step begins again", RuleStep, "was COMPLETE", false, func(s *story) {
			s.states("new")[3].Status.Phases[0].Steps[0].Status = v1beta1.ExecutionInProgress
		}},
		{"a complete step was completed at another time", RuleStep, "was COMPLETE", false, func(s *story) {
			s.states("new")[3].Status.Phases[0].Steps[0].CompletionTime = &metav1.Time{Time: s.now}
		}},
		{"a complete step is not there any more", RuleStep, "not there any more", false, func(s *story) {
			pe := s.states("new")[3]
			pe.Status.Phases[0].Steps = pe.Status.Phases[0].Steps[1:]
		}},
		{"a complete step writes", RuleWrite, "after the step was seen to be complete", false, func(s *story) { s.wrote("new", "one") }},
		{"a complete run with a pending step", RuleTree, "step p.two is PENDING", false, func(s *story) {
			s.end("new").Status.Phases[0].Steps[1].Status = v1beta1.ExecutionPending
		}},
		{"a complete run with a task in progress", RuleTree, "task two", false, func(s *story) {
			s.end("new").Status.Phases[0].Steps[1].Tasks[0].Status = v1beta1.ExecutionInProgress
		}},
		{"a complete run with a phase in progress", RuleTree, "phase p is", false, func(s *story) {
			s.end("new").Status.Phases[0].Status = v1beta1.ExecutionInProgress
		}},
		{"a complete run with an object that is not ready", RuleTree, "is not ready", false, func(s *story) {
			s.end("new").Status.Phases[0].Steps[0].Objects = []v1beta1.ObjectExecutionStatus{{Kind: "ConfigMap", Name: "x"}}
		}},
		{"a failed run with a step in progress", RuleTree, "step p.one is IN_PROGRESS", false, func(s *story) {
			s.end("stopped").Status.Phases[0].Steps[0].Status = v1beta1.ExecutionInProgress
		}},
		{"a run without a time of completion", RuleTree, "no time of completion", false, func(s *story) { s.end("new").Status.CompletionTime = nil }},
		{"the end of a run changes", RuleFinal, "had ended with COMPLETE", false, func(s *story) {
			s.lock("new", "deploy")
			s.ended("new", "Late", "too late")
			s.lock("", "")
		}},
		{"the message of a run that has ended changes", RuleFinal, "had ended with FATAL_ERROR", false, func(s *story) {
			s.run("stopped", func(pe *v1beta1.PlanExecution) { pe.Status.Message = "no, not so" })
		}},
		{"the parameters of a run change", RuleIdentity, "it was new", false, func(s *story) {
			s.states("new")[2].Spec.Parameters = map[string]string{"a": "b"}
		}},
		{"a gap in the log", RuleLog, "entry 3 follows entry 1", false, func(s *story) {
			for _, pe := range s.states("new") {
				if log := pe.Status.Log; len(log) > 2 {
					pe.Status.Log = append(log[:1:1], log[2:]...)
				}
			}
		}},
		{"a log that begins late", RuleLog, "begins with entry 2", false, func(s *story) {
			for _, pe := range s.states("new") {
				pe.Status.Log = pe.Status.Log[1:]
			}
		}},
		{"an entry of a log changes", RuleLog, "entry 1 was", false, func(s *story) { s.states("new")[2].Status.Log[0].Message = "rewritten" }},
		{"an entry of a log goes", RuleLog, "it has 2 entries and had 3", false, func(s *story) {
			pe := s.states("new")[3]
			pe.Status.Log = pe.Status.Log[:2]
		}},
		{"one run without a log", RuleLog, "it has no log", false, func(s *story) {
			for _, pe := range s.states("new") {
				pe.Status.Log = nil
			}
		}},
		{"a cancelled run goes on", RuleCancel, "and it ended with COMPLETE", false, func(s *story) { s.target(s.op(Cancel, Accepted, 0), "new") }},
		{"a run that nobody cancelled is", RuleCancel, "nobody was told", false, func(s *story) { s.op(Cancel, Accepted, 0).Outcome = Refused }},
		{"two cancel the same run", RuleCancel, "were both told", false, func(s *story) { s.op(Cancel, Refused, 0).Outcome = Accepted }},
		{"a successor that does not exist", RuleSuccessor, "there is no run nobody", false, func(s *story) {
			s.end("old").Status.Message = "superseded by PlanExecution \"nobody\""
		}},
		{"a superseded run that names no successor", RuleSuccessor, "names no successor", false, func(s *story) { s.end("old").Status.Message = "superseded" }},
		{"a locked Instance is left", RuleQuiet, "still locked", false, func(s *story) {
			s.log.Instances = s.log.Instances[:len(s.log.Instances)-1]
		}},
		{"an Instance is never gone", RuleQuiet, "is being deleted and never goes", true, func(s *story) {
			s.log.Instances = s.log.Instances[:len(s.log.Instances)-1]
		}},
		{"a run never ends", RuleQuiet, "and never ends", false, func(s *story) {
			s.operation(Trigger, Accepted, "endless", "quick")
			s.lock("endless", "quick")
			s.created("endless", "quick", v1beta1.TriggerManual)
			s.log.End = s.now
		}},
		{"an Instance says something else about a run", RuleMirror, "the Instance says", false, func(s *story) {
			s.instance(func(i *v1beta1.Instance) {
				i.Status.PlanStatus["deploy"] = v1beta1.PlanStatus{UID: "uid-new", Status: v1beta1.ExecutionFatalError}
			})
		}},
		{"an old state is seen after a new one", RuleOrder, "was seen after", false, func(s *story) {
			pe := s.states("new")[2]
			s.log.Runs = append(s.log.Runs, Event[*v1beta1.PlanExecution]{Type: Seen, At: s.now, Version: s.version, Objects: []*v1beta1.PlanExecution{pe}})
		}},
		{"a run comes back", RuleOrder, "is there again", false, func(s *story) {
			pe := s.end("quick").DeepCopy()
			pe.ResourceVersion = "9999"
			s.log.Runs = append(s.log.Runs, Event[*v1beta1.PlanExecution]{Type: Seen, At: s.now, Version: 9999, Objects: []*v1beta1.PlanExecution{pe}})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := all(tc.goes)
			tc.spoil(s)
			found := Check(&s.log)
			for _, v := range found {
				if v.Rule == tc.rule && strings.Contains(v.Text, tc.says) {
					if Explain(&s.log, v) == "" {
						t.Error("nothing is explained")
					}
					return
				}
			}
			t.Errorf("no complaint %q that says %q, but %v", tc.rule, tc.says, found)
		})
	}
}

// late makes the last release of the lock by a run of deploy come later.
func (s *story) late(by time.Duration) {
	last := s.end("new").ResourceVersion
	for i := range s.log.Instances {
		if e := &s.log.Instances[i]; e.Version > Version(last) {
			e.At = e.At.Add(by)
		}
	}
	s.log.End = s.log.End.Add(by)
}

// later makes a state of a run be seen later, and all that follows.
func (s *story) later(pe *v1beta1.PlanExecution, by time.Duration) {
	first := Version(pe.ResourceVersion)
	for i := range s.log.Runs {
		if e := &s.log.Runs[i]; e.Version >= first {
			e.At = e.At.Add(by)
		}
	}
	for i := range s.log.Instances {
		if e := &s.log.Instances[i]; e.Version >= first {
			e.At = e.At.Add(by)
		}
	}
	s.log.End = s.log.End.Add(by)
}

// TestOutagesDoNotCount: a lock may stay for as long as there is no server, or nobody looks.
func TestOutagesDoNotCount(t *testing.T) {
	s := all(false)
	var ended time.Time
	for _, e := range s.log.Runs {
		if e.Type == Seen && e.Objects[0] == s.end("new") {
			ended = e.At
		}
	}
	s.late(4 * time.Second)
	outages := s.log.Outages
	s.log.Outages = append(s.log.Outages, Span{ended.Add(time.Second), ended.Add(2500 * time.Millisecond)})
	if found := Check(&s.log); len(found) > 0 {
		t.Errorf("%v", found)
	}
	s.log.Outages = outages
	o := s.op(Cancel, Refused, 0)
	o.Sent, o.Answered = ended.Add(time.Second), ended.Add(2500*time.Millisecond)
	if found := Check(&s.log); len(found) > 0 {
		t.Errorf("with an answer that took long: %v", found)
	}
}

// TestGoneTooSoonToBeSeen: a run of an Instance that went at once may never have been there to see.
func TestGoneTooSoonToBeSeen(t *testing.T) {
	s := all(true)
	o := s.op(Delete, Accepted, 0)
	s.unseen("cleanup")
	if found := Check(&s.log); len(found) > 0 {
		t.Errorf("the Instance went at once: %v", found)
	}
	o.Answered = o.Answered.Add(-time.Minute)
	if found := Check(&s.log); len(found) != 1 || found[0].Rule != RuleAccepted {
		t.Errorf("the Instance was there for a minute: %v", found)
	}
}

func TestWithout(t *testing.T) {
	at := func(seconds int) time.Time { return startOfTime.Add(time.Duration(seconds) * time.Second) }
	for _, tc := range []struct {
		from, to int
		spans    [][2]int
		want     int
	}{
		{0, 10, nil, 10}, {10, 0, nil, 0}, {0, 10, [][2]int{{2, 4}}, 8}, {0, 10, [][2]int{{5, 20}, {-5, 2}}, 3},
		{0, 10, [][2]int{{1, 5}, {2, 3}, {4, 6}}, 5}, {0, 10, [][2]int{{-1, 11}}, 0}, {0, 10, [][2]int{{20, 30}}, 10},
	} {
		var spans []Span
		for _, s := range tc.spans {
			spans = append(spans, Span{at(s[0]), at(s[1])})
		}
		if got := without(at(tc.from), at(tc.to), spans); got != time.Duration(tc.want)*time.Second {
			t.Errorf("from %d to %d without %v: %v, want %d s", tc.from, tc.to, tc.spans, got, tc.want)
		}
	}
}
