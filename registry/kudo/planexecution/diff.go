// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"fmt"
	"slices"
	"strings"

	"kudo.dev/kudo/apis/kudo"
)

// place is where in a run something happened: in a step, in a phase if step is empty, or in the whole run if both are.
type place struct{ phase, step string }

// part is a run, a phase or a step, for comparison.
type part struct {
	place
	status   kudo.ExecutionStatus
	message  string
	children []part
}

func tree(status *kudo.PlanExecutionStatus) part {
	run := part{place{}, status.Status, status.Message, nil}
	for _, phase := range status.Phases {
		p := part{place{phase.Name, ""}, phase.Status, phase.Message, nil}
		for _, step := range phase.Steps {
			p.children = append(p.children, part{place{phase.Name, step.Name}, step.Status, step.Message, nil})
		}
		run.children = append(run.children, p)
	}
	return run
}

// created is what the log begins with.
func created(pe *kudo.PlanExecution) kudo.PlanExecutionLogEntry {
	by := "nobody known"
	if pe.Spec.RequestedBy != nil {
		by = fmt.Sprintf("%q", pe.Spec.RequestedBy.Username)
	}
	return kudo.PlanExecutionLogEntry{Status: kudo.ExecutionPending, Message: fmt.Sprintf("requested by %s (%s)", by, pe.Spec.Trigger)}
}

// changes are what happened between two states of a run, without time and sequence. A part begins before its children and ends
// after them.
func changes(before, after *kudo.PlanExecutionStatus) []kudo.PlanExecutionLogEntry {
	known := map[place]part{}
	remember(known, tree(before))
	return tree(after).changes(known)
}

func remember(known map[place]part, p part) {
	known[p.place] = p
	for _, child := range p.children {
		remember(known, child)
	}
}

func (p part) changes(known map[place]part) []kudo.PlanExecutionLogEntry {
	was, ok := known[p.place]
	if !ok {
		was.status = kudo.ExecutionPending
	}
	message := p.message
	if !p.status.IsTerminal() && p.repeated(message) {
		message = ""
	}
	var own, all []kudo.PlanExecutionLogEntry
	if p.status != was.status || (message != "" && p.message != was.message) {
		own = append(own, kudo.PlanExecutionLogEntry{Phase: p.phase, Step: p.step, Status: p.status, Message: message})
	}
	if !p.status.IsTerminal() {
		all, own = own, nil
	}
	for _, child := range p.children {
		all = append(all, child.changes(known)...)
	}
	return append(all, own...)
}

// telling is as much of a message, in bytes, as must appear in another one that repeats it and was cut.
const telling = 1000

// repeated tells whether the message comes from below, where it is logged with the step that it is about.
func (p part) repeated(message string) bool {
	return slices.ContainsFunc(p.children, func(child part) bool {
		says := child.message[:min(len(child.message), telling)]
		return (says != "" && strings.Contains(message, says)) || child.repeated(message)
	})
}
