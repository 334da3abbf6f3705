// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// line is a line of a tree. The status stands by itself because it is coloured.
type line struct {
	// path identifies the line among those of one tree.
	path string
	// indent draws the branches.
	indent                string
	before, status, after string
}

// text is the line without colours.
func (l line) text() string { return l.indent + l.content() }

// content is the line without colours and branches.
func (l line) content() string {
	if l.status == "" {
		return l.before + l.after
	}
	return l.before + "[" + l.status + "]" + l.after
}

// statusTree returns the lines that show all plans of an Instance: the given run in full, the others as not active.
// The run, the version, or both may be nil.
func statusTree(instance *v1beta1.Instance, version *v1beta1.OperatorVersion, run *v1beta1.PlanExecution) []line {
	var plans map[string]v1beta1.Plan
	if version != nil {
		plans = version.Spec.Plans
	}
	var active planView
	if run != nil {
		active = viewOfRun(run, plans[run.Spec.PlanName])
	} else if status := lastStatus(instance); status != nil {
		active = viewOfStatus(*status, plans[status.Name])
	}
	views := []planView{}
	names := slices.Collect(maps.Keys(plans))
	if _, known := plans[active.name]; !known && active.name != "" {
		names = append(names, active.name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name == active.name {
			views = append(views, active)
		} else {
			views = append(views, viewOfPlan(name, plans[name], notActive))
		}
	}
	return drawTree(instance, active.name, views)
}

// drawTree draws plans, phases and steps as KUDO does.
func drawTree(instance *v1beta1.Instance, active string, views []planView) []line {
	lines := []line{
		{path: "title", before: fmt.Sprintf("Plan(s) for %q in namespace %q:", instance.Name, instance.Namespace)},
		{path: "root", before: "."},
		{path: "instance", indent: "└── ", before: fmt.Sprintf("%s (Operator-Version: %q Active-Plan: %q)", instance.Name, instance.Spec.OperatorVersion.Name, active)},
	}
	const top = "    "
	for i, plan := range views {
		branch, below := branches(top, i == len(views)-1)
		after := parenthesis(plan.message)
		if plan.updated != nil {
			after += ", last updated " + plan.updated.UTC().Format(time.DateTime)
		}
		lines = append(lines, line{plan.name, branch, fmt.Sprintf("Plan %s (%s strategy) ", plan.name, plan.strategy), plan.status, after})
		for j, phase := range plan.phases {
			branch, below := branches(below, j == len(plan.phases)-1)
			path := plan.name + "." + phase.name
			lines = append(lines, line{path, branch, fmt.Sprintf("Phase %s (%s strategy) ", phase.name, phase.strategy), phase.status, parenthesis(phase.message)})
			for k, step := range phase.steps {
				branch, _ := branches(below, k == len(phase.steps)-1)
				after := parenthesis(step.message)
				if step.took > 0 {
					after += ", took " + step.took.String()
				}
				lines = append(lines, line{path + "." + step.name, branch, "Step " + step.name + " ", step.status, after})
			}
		}
	}
	return lines
}

// branches returns the indent of a line, and of the lines below it.
func branches(indent string, last bool) (own, below string) {
	if last {
		return indent + "└── ", indent + "    "
	}
	return indent + "├── ", indent + "│   "
}

// parenthesis puts a message behind a line. A tree has no room for messages of several lines.
func parenthesis(message string) string {
	if message == "" {
		return ""
	}
	return " (" + strings.Join(strings.Fields(message), " ") + ")"
}

// lastStatus is the running plan of an Instance, or the one that ran last; nil if none ever ran.
func lastStatus(instance *v1beta1.Instance) *v1beta1.PlanStatus {
	var last *v1beta1.PlanStatus
	for _, name := range slices.Sorted(maps.Keys(instance.Status.PlanStatus)) {
		status := instance.Status.PlanStatus[name]
		if status.Status == "" || status.Status == v1beta1.ExecutionNeverRun {
			continue
		}
		status.Name = name
		if status.Status.IsRunning() {
			return &status
		}
		if last == nil || last.LastUpdatedTimestamp.Before(status.LastUpdatedTimestamp) {
			last = &status
		}
	}
	return last
}
