// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/random/history"
)

// forgeries change a true history in one place, and name the rule that is broken by it. Each returns false if there is no such place.
var forgeries = []struct {
	name  string
	rule  history.Rule
	forge func(*history.Log) bool
}{
	{"a run that was accepted is not seen", history.RuleAccepted, func(log *history.Log) bool {
		o := accepted(log, history.Trigger)
		if o == nil {
			return false
		}
		log.Runs = without(log.Runs, o.Started.UID)
		return true
	}},
	{"an operation that ran was refused", history.RuleRefused, func(log *history.Log) bool {
		o := accepted(log, history.Change)
		if o == nil {
			return false
		}
		o.Outcome = history.Refused
		return true
	}},
	{"a complete step was not", history.RuleStep, func(log *history.Log) bool {
		return spoil(log, v1beta1.ExecutionComplete, func(pe *v1beta1.PlanExecution) {
			for p := range pe.Status.Phases {
				for s := range pe.Status.Phases[p].Steps {
					pe.Status.Phases[p].Steps[s].Status = v1beta1.ExecutionPending
				}
			}
		})
	}},
	{"the user is another", history.RuleIdentity, func(log *history.Log) bool {
		return spoil(log, v1beta1.ExecutionComplete, func(pe *v1beta1.PlanExecution) { pe.Spec.RequestedBy.Username = "nobody" })
	}},
	{"the end is open", history.RuleTree, func(log *history.Log) bool {
		return spoil(log, v1beta1.ExecutionComplete, func(pe *v1beta1.PlanExecution) { pe.Status.Phases[0].Status = v1beta1.ExecutionInProgress })
	}},
	{"a release of a lock is not seen, nor anything later", history.RuleQuiet, func(log *history.Log) bool {
		for n := len(log.Instances) - 1; n > 0; n-- {
			if e := log.Instances[n]; e.Type == history.Seen && e.Objects[0].Spec.PlanExecution.UID != "" {
				log.Instances = log.Instances[:n+1]
				return true
			}
		}
		return false
	}},
}

// forged expects the checker to see through changes of a history that is in order.
func forged(t *testing.T, log *history.Log) {
	t.Helper()
	for _, f := range forgeries {
		forged := *log
		forged.Operations = slices.Clone(log.Operations)
		forged.Runs, forged.Instances = slices.Clone(log.Runs), slices.Clone(log.Instances)
		if !f.forge(&forged) {
			t.Errorf("%s: the history has no place for that", f.name)
			continue
		}
		if found := history.Check(&forged); !slices.ContainsFunc(found, func(v history.Violation) bool { return v.Rule == f.rule }) {
			t.Errorf("%s: the checker has no complaint %q, but %v", f.name, f.rule, found)
		}
	}
}

// accepted is an operation whose run has ended in the history and is still there.
func accepted(log *history.Log, kind history.Kind) *history.Operation {
	last := log.Runs[len(log.Runs)-1].Objects
	for i := range log.Operations {
		o := &log.Operations[i]
		if o.Kind == kind && o.Outcome == history.Accepted && o.Started != nil &&
			slices.ContainsFunc(last, func(pe *v1beta1.PlanExecution) bool { return pe.UID == o.Started.UID }) && stays(log, o.InstanceUID) {
			return o
		}
	}
	return nil
}

// stays tells whether an Instance is there in the end.
func stays(log *history.Log, uid types.UID) bool {
	last := log.Instances[len(log.Instances)-1].Objects
	return slices.ContainsFunc(last, func(i *v1beta1.Instance) bool { return i.UID == uid })
}

// without drops an object from all events.
func without[T metav1.Object](events []history.Event[T], uid types.UID) []history.Event[T] {
	var out []history.Event[T]
	for _, e := range events {
		e.Objects = slices.DeleteFunc(slices.Clone(e.Objects), func(obj T) bool { return obj.GetUID() == uid })
		if len(e.Objects) > 0 || e.Type == history.Listed || e.Type == history.Broken {
			out = append(out, e)
		}
	}
	return out
}

// spoil changes the last state of a run that was seen with this status and before with another one, and in which a step was complete.
func spoil(log *history.Log, status v1beta1.ExecutionStatus, change func(*v1beta1.PlanExecution)) bool {
	begun := map[types.UID]bool{}
	for n := range log.Runs {
		e := log.Runs[n]
		if e.Type != history.Seen {
			continue
		}
		pe := e.Objects[0]
		if pe.Status.Status == status && begun[pe.UID] {
			pe = pe.DeepCopy()
			change(pe)
			log.Runs[n].Objects = []*v1beta1.PlanExecution{pe}
			return true
		}
		if len(pe.Status.Phases) > 0 && pe.Status.Phases[0].Steps[0].Status == v1beta1.ExecutionComplete {
			begun[pe.UID] = true
		}
	}
	return false
}
