// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
)

// line is one thing that happened in a run.
type line struct {
	at   time.Time
	text string
}

// String is the line as the log shows it.
func (l line) String() string { return l.at.UTC().Format(time.RFC3339) + " " + l.text }

// part is a run, a phase or a step, for comparison.
type part struct {
	name       string
	status     kudo.ExecutionStatus
	message    string
	start, end *metav1.Time
	children   []part
}

func tree(pe *kudo.PlanExecution) part {
	run := part{"plan " + pe.Spec.PlanName, pe.Status.Status, pe.Status.Message, pe.Status.StartTime, pe.Status.CompletionTime, nil}
	for _, phase := range pe.Status.Phases {
		p := part{"phase " + phase.Name, phase.Status, phase.Message, phase.StartTime, phase.CompletionTime, nil}
		for _, step := range phase.Steps {
			p.children = append(p.children, part{"step " + phase.Name + "." + step.Name, step.Status, step.Message, step.StartTime, step.CompletionTime, nil})
		}
		run.children = append(run.children, p)
	}
	return run
}

// progress is what happened between two states of a run, in order of time. before may be nil: then it is all that is recorded. What
// has no time of its own, such as a change of what a step waits for, happened now.
func progress(before, after *kudo.PlanExecution, now time.Time) []line {
	known := map[string]part{}
	if before != nil {
		remember(known, tree(before))
	}
	lines := tree(after).progress(known, now)
	// Times have whole seconds. What happened within one stays in the order of the tree: a part begins before its children and
	// ends after them.
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	return lines
}

func remember(known map[string]part, p part) {
	known[p.name] = p
	for _, child := range p.children {
		remember(known, child)
	}
}

// childSays tells whether the message comes from below, where it is shown with the step that it is about.
func (p part) childSays() bool {
	return slices.ContainsFunc(p.children, func(child part) bool { return child.message != "" })
}

func (p part) progress(known map[string]part, now time.Time) []line {
	var lines []line
	was := known[p.name]
	if was.start == nil && p.start != nil {
		lines = append(lines, line{p.start.Time, p.name + " began"})
	}
	if p.message != "" && p.message != was.message && !p.status.IsTerminal() && !p.childSays() {
		lines = append(lines, line{now, p.name + " " + string(p.status) + because(p)})
	}
	for _, child := range p.children {
		lines = append(lines, child.progress(known, now)...)
	}
	if was.status != p.status && p.status.IsTerminal() {
		lines = append(lines, line{timeOr(p.end, now), p.name + " " + string(p.status) + took(p) + because(p)})
	}
	return lines
}

func timeOr(t *metav1.Time, now time.Time) time.Time {
	if t == nil {
		return now
	}
	return t.Time
}

func took(p part) string {
	if p.start == nil || p.end == nil {
		return ""
	}
	return fmt.Sprintf(" after %s", p.end.Sub(p.start.Time).Round(time.Second))
}

// because is the message on one line.
func because(p part) string {
	if p.message == "" {
		return ""
	}
	return ": " + strings.Join(strings.Fields(p.message), " ")
}
