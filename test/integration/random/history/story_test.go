// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// story writes a history as it would be recorded: a client and a server with one Instance, whose clock is a version and whose
// versions are 100 ms apart.
type story struct {
	log     Log
	version uint64
	now     time.Time
	inst    *v1beta1.Instance
	runs    map[string]*v1beta1.PlanExecution
	// started is the number of the operation that started a run.
	started map[string]int
}

var startOfTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func newStory() *story {
	s := &story{now: startOfTime, runs: map[string]*v1beta1.PlanExecution{}, started: map[string]int{}}
	s.listed()
	return s
}

func (s *story) tick() time.Time {
	s.version++
	s.now = s.now.Add(100 * time.Millisecond)
	return s.now
}

// listed is what observers see first, and after an outage.
func (s *story) listed() {
	at := s.tick()
	i := Event[*v1beta1.Instance]{Type: Listed, At: at, Version: s.version}
	if s.inst != nil {
		i.Objects = append(i.Objects, s.inst.DeepCopy())
	}
	r := Event[*v1beta1.PlanExecution]{Type: Listed, At: at, Version: s.version}
	for _, pe := range s.runs {
		r.Objects = append(r.Objects, pe.DeepCopy())
	}
	s.log.Instances, s.log.Runs = append(s.log.Instances, i), append(s.log.Runs, r)
}

// broken is the end of what observers see, until listed.
func (s *story) broken() {
	s.tick()
	s.log.Instances = append(s.log.Instances, Event[*v1beta1.Instance]{Type: Broken, At: s.now})
	s.log.Runs = append(s.log.Runs, Event[*v1beta1.PlanExecution]{Type: Broken, At: s.now})
}

// operation is one of alice; it returns it for more to be said about it.
func (s *story) operation(kind Kind, outcome Outcome, started string, plans ...string) *Operation {
	o := Operation{ID: len(s.log.Operations) + 1, Client: "alice", Kind: kind, Namespace: "ns", Instance: "i", InstanceUID: "uid-i", Plans: plans,
		Sent: s.now, Answered: s.now.Add(50 * time.Millisecond), Outcome: outcome}
	if started != "" {
		o.Started = &RunRef{Name: started, UID: types.UID("uid-" + started)}
		s.started[started] = o.ID
	}
	s.log.Operations = append(s.log.Operations, o)
	return &s.log.Operations[len(s.log.Operations)-1]
}

func (s *story) target(o *Operation, run string) {
	o.Target = RunRef{Name: run, UID: types.UID("uid-" + run)}
}

// instance writes the Instance.
func (s *story) instance(change func(*v1beta1.Instance)) {
	if s.inst == nil {
		s.inst = &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "i", Namespace: "ns", UID: "uid-i"}}
		s.inst.Status.PlanStatus = map[string]v1beta1.PlanStatus{}
	}
	change(s.inst)
	at := s.tick()
	s.inst.ResourceVersion = strconv.FormatUint(s.version, 10)
	s.log.Instances = append(s.log.Instances, Event[*v1beta1.Instance]{Type: Seen, At: at, Version: s.version, Objects: []*v1beta1.Instance{s.inst.DeepCopy()}})
}

// lock gives the Instance to a run; an empty name releases it.
func (s *story) lock(run, plan string) {
	s.instance(func(i *v1beta1.Instance) {
		i.Spec.PlanExecution = v1beta1.InstancePlanExecution{PlanName: plan}
		if run != "" {
			i.Spec.PlanExecution.UID = types.UID("uid-" + run)
			i.Spec.PlanExecution.Template = &v1beta1.PlanExecutionTemplate{Name: run}
		}
		for name, pe := range s.runs {
			i.Status.PlanStatus[pe.Spec.PlanName] = v1beta1.PlanStatus{UID: types.UID("uid-" + name), Status: pe.Status.Status}
		}
	})
}

// created makes a run, which is pending.
func (s *story) created(name, plan string, trigger v1beta1.TriggerReason) {
	isController := true
	pe := &v1beta1.PlanExecution{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-" + name),
		OwnerReferences: []metav1.OwnerReference{{Kind: "Instance", Name: "i", UID: "uid-i", Controller: &isController}}},
		Spec: v1beta1.PlanExecutionSpec{InstanceName: "i", PlanName: plan, Trigger: trigger, RequestedBy: &v1beta1.RequestedBy{Username: "alice"}}}
	mark := strconv.Itoa(s.started[name])
	switch trigger {
	case v1beta1.TriggerManual:
		pe.Annotations = map[string]string{OperationAnnotation: mark}
	case v1beta1.TriggerCleanup:
	default:
		pe.Spec.InstanceParameters = map[string]string{OperationParameter: mark}
	}
	step := func(name string) v1beta1.StepExecutionStatus {
		return v1beta1.StepExecutionStatus{Name: name, Status: v1beta1.ExecutionPending, Tasks: []v1beta1.TaskExecutionStatus{{Name: name, Status: v1beta1.ExecutionPending}}}
	}
	pe.Status = v1beta1.PlanExecutionStatus{Status: v1beta1.ExecutionPending, Phases: []v1beta1.PhaseExecutionStatus{
		{Name: "p", Status: v1beta1.ExecutionPending, Steps: []v1beta1.StepExecutionStatus{step("one"), step("two")}}}}
	s.runs[name] = pe
	s.run(name, func(*v1beta1.PlanExecution) {})
}

// run writes a run, and an entry of its log.
func (s *story) run(name string, change func(*v1beta1.PlanExecution)) {
	pe := s.runs[name]
	change(pe)
	at := s.tick()
	pe.ResourceVersion = strconv.FormatUint(s.version, 10)
	pe.Status.Log = append(pe.Status.Log, v1beta1.PlanExecutionLogEntry{Sequence: int64(len(pe.Status.Log) + 1), Time: metav1.NewMicroTime(at), Status: pe.Status.Status})
	s.log.Runs = append(s.log.Runs, Event[*v1beta1.PlanExecution]{Type: Seen, At: at, Version: s.version, Objects: []*v1beta1.PlanExecution{pe.DeepCopy()}})
}

// step sets the status of a step, and of all above and below it.
func (s *story) step(name string, n int, status v1beta1.ExecutionStatus) {
	s.run(name, func(pe *v1beta1.PlanExecution) {
		now := metav1.NewTime(s.now)
		pe.Status.Status = v1beta1.ExecutionInProgress
		p := &pe.Status.Phases[0]
		p.Status = v1beta1.ExecutionInProgress
		step := &p.Steps[n]
		if step.StartTime == nil {
			step.StartTime = &now
		}
		if step.Status, step.Tasks[0].Status = status, status; status.IsTerminal() {
			step.CompletionTime = &now
		}
	})
}

// ended ends a run; a reason makes it fail.
func (s *story) ended(name, reason, message string) {
	s.run(name, func(pe *v1beta1.PlanExecution) {
		now := metav1.NewTime(s.now)
		status := v1beta1.ExecutionComplete
		if reason != "" {
			status = v1beta1.ExecutionFatalError
			meta.SetStatusCondition(&pe.Status.Conditions, metav1.Condition{Type: v1beta1.FailedConditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message})
		}
		pe.Status.Status, pe.Status.Message, pe.Status.CompletionTime = status, message, &now
		p := &pe.Status.Phases[0]
		p.Status = status
		for i := range p.Steps {
			if reason == "" || p.Steps[i].Status == v1beta1.ExecutionInProgress {
				p.Steps[i].Status, p.Steps[i].Tasks[0].Status = status, status
			}
		}
	})
}

// goes is the deletion of a run.
func (s *story) goes(name string) {
	at := s.tick()
	s.log.Runs = append(s.log.Runs, Event[*v1beta1.PlanExecution]{Type: Gone, At: at, Version: s.version, Objects: []*v1beta1.PlanExecution{s.runs[name].DeepCopy()}})
	delete(s.runs, name)
}

// instanceGoes is the deletion of the Instance.
func (s *story) instanceGoes() {
	at := s.tick()
	s.log.Instances = append(s.log.Instances, Event[*v1beta1.Instance]{Type: Gone, At: at, Version: s.version, Objects: []*v1beta1.Instance{s.inst.DeepCopy()}})
	s.inst = nil
}

// wrote is a write for a step.
func (s *story) wrote(name, step string) {
	s.log.Writes = append(s.log.Writes, Write{At: s.now.Add(time.Millisecond), Run: types.UID("uid-" + name), Phase: "p", Step: step, Object: "ns/object", Verb: "patch"})
}

// whole is a run from its start to its end.
func (s *story) whole(name, plan string, trigger v1beta1.TriggerReason) {
	s.lock(name, plan)
	s.created(name, plan, trigger)
	s.step(name, 0, v1beta1.ExecutionInProgress)
	s.wrote(name, "one")
	s.step(name, 0, v1beta1.ExecutionComplete)
	s.step(name, 1, v1beta1.ExecutionInProgress)
	s.ended(name, "", "")
	s.lock("", "")
}

// all is a story in which everything happens that may: runs of all causes, refusals, a lost answer, an outage, a run that is cancelled,
// one that is superseded, one that is deleted, and the deletion of the Instance if goes says so.
func all(goes bool) *story {
	s := newStory()
	s.operation(Create, Accepted, "deploy", "deploy")
	s.whole("deploy", "deploy", v1beta1.TriggerCreate)
	s.operation(Trigger, Accepted, "quick", "quick")
	s.operation(Trigger, Refused, "", "quick")
	s.whole("quick", "quick", v1beta1.TriggerManual)
	s.started["lost"] = len(s.log.Operations) + 1
	s.operation(Trigger, Unknown, "", "quick")
	down := Span{From: s.now}
	s.broken()
	s.now = s.now.Add(10 * time.Second)
	s.listed()
	down.To = s.now
	s.log.Outages = append(s.log.Outages, down)
	s.whole("lost", "quick", v1beta1.TriggerManual)
	s.operation(Change, Accepted, "old", "deploy")
	s.lock("old", "deploy")
	s.created("old", "deploy", v1beta1.TriggerParameterChange)
	s.step("old", 0, v1beta1.ExecutionInProgress)
	s.operation(Change, Accepted, "new", "deploy")
	s.lock("new", "deploy")
	s.inst.Spec.PlanExecution.Template.Annotations = map[string]string{supersedesAnnotation: "old"}
	s.log.Instances[len(s.log.Instances)-1].Objects[0] = s.inst.DeepCopy()
	s.ended("old", v1beta1.ReasonSuperseded, fmt.Sprintf("superseded by PlanExecution %q, started by alice", "new"))
	s.whole("new", "deploy", v1beta1.TriggerParameterChange)
	s.operation(Patch, Accepted, "stopped", "quick")
	s.lock("stopped", "quick")
	s.created("stopped", "quick", v1beta1.TriggerManual)
	delete(s.runs["stopped"].Annotations, OperationAnnotation)
	s.log.Runs[len(s.log.Runs)-1].Objects[0].Annotations = nil
	s.step("stopped", 0, v1beta1.ExecutionInProgress)
	s.target(s.operation(Cancel, Accepted, ""), "stopped")
	s.ended("stopped", v1beta1.ReasonCancelled, "cancelled")
	s.target(s.operation(Cancel, Refused, ""), "stopped")
	s.lock("", "")
	s.target(s.operation(Forget, Accepted, ""), "quick")
	s.goes("quick")
	if goes {
		s.operation(Delete, Accepted, "cleanup", "cleanup")
		s.inst.DeletionTimestamp = &metav1.Time{Time: s.now}
		s.whole("cleanup", "cleanup", v1beta1.TriggerCleanup)
		s.instanceGoes()
		for _, name := range []string{"deploy", "lost", "old", "new", "stopped", "cleanup"} {
			s.goes(name)
		}
	}
	s.log.End = s.now.Add(time.Second)
	return s
}
