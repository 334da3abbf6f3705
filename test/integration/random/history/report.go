// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// around is how much before and after a complaint a report shows.
const around = 5 * time.Second

type line struct {
	at   time.Time
	text string
}

// Explain tells what happened to the Instance of a complaint about that time: operations, outages, and the states that were seen.
func Explain(log *Log, v Violation) string {
	shown := func(at time.Time) bool {
		return v.At.IsZero() || at.After(v.At.Add(-around)) && at.Before(v.At.Add(around))
	}
	var lines []line
	add := func(at time.Time, format string, args ...any) {
		if shown(at) {
			lines = append(lines, line{at, fmt.Sprintf(format, args...)})
		}
	}
	for i := range log.Operations {
		if o := &log.Operations[i]; o.Namespace == v.Namespace && o.Instance == v.Instance {
			add(o.Sent, "%s", o)
		}
	}
	for _, s := range log.Outages {
		add(s.From, "the server is killed; it is back after %v", s.To.Sub(s.From).Round(time.Millisecond))
	}
	for _, e := range log.Instances {
		for _, i := range e.Objects {
			if i.Namespace == v.Namespace && i.Name == v.Instance && e.Type != Listed {
				add(e.At, "  %s Instance %s at %d: locked by %q of %s; deleting %v", e.Type, i.UID, e.Version, i.Spec.PlanExecution.UID, i.Spec.PlanExecution.PlanName, i.DeletionTimestamp != nil)
			}
		}
	}
	for _, e := range log.Runs {
		for _, pe := range e.Objects {
			if pe.Namespace == v.Namespace && pe.Spec.InstanceName == v.Instance && e.Type != Listed {
				add(e.At, "  %s run %s (%s) at %d: %s %s", e.Type, pe.Name, pe.UID, e.Version, tree(pe), pe.Status.Message)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%s %s\n", l.at.Format("15:04:05.000"), l.text)
	}
	return out.String()
}

// String is the operation on one line.
func (o *Operation) String() string {
	s := fmt.Sprintf("%5d %s %s %s/%s", o.ID, o.Client, o.Kind, o.Namespace, o.Instance)
	if len(o.Plans) > 0 {
		s += " " + strings.Join(o.Plans, "|")
	}
	if o.Target.Name != "" {
		s += " run " + o.Target.Name
	}
	s += fmt.Sprintf(": %s after %v", o.Outcome, o.Answered.Sub(o.Sent).Round(100*time.Microsecond))
	if o.Started != nil {
		s += fmt.Sprintf(": %s (%s)", o.Started.Name, o.Started.UID)
	}
	if o.Answer != "" {
		s += ": " + o.Answer
	}
	return s
}

// tree is the status of a run and of its steps, in short.
func tree(pe *v1beta1.PlanExecution) string {
	var steps []string
	for _, p := range pe.Status.Phases {
		for _, s := range p.Steps {
			steps = append(steps, fmt.Sprintf("%s.%s=%s", p.Name, s.Name, s.Status))
		}
	}
	return fmt.Sprintf("%s %v", pe.Status.Status, steps)
}
