// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	"strings"
	"testing"
)

// TestReported: the steps of a phase are given as the objects that they applied, with a minus those that they deleted.
func TestReported(t *testing.T) {
	for _, c := range []struct {
		name   string
		plan   Ordering
		phases []string // the first letter is the strategy
		want   string
	}{
		{"serial", Serial, []string{"s a -a", "s b a"}, "-a b a"},
		{"a parallel phase", Serial, []string{"p a -a", "p b -b"}, "-a a -b b"},
		{"deleted at the end of a serial phase of a parallel plan", Parallel, []string{"s a -a", "s b"}, "-a b"},
		{"deleted at its start", Parallel, []string{"s -a a", "s b"}, "-a a b"},
		{"applied by two steps", Parallel, []string{"s a a"}, "a a"},
		{"applied, deleted and applied", Parallel, []string{"s a b -a a -b"}, "-a -b a"},
		{"another phase applies it", Parallel, []string{"s a -a", "s a"}, "-a a"},
		{"other strategies in a parallel plan", Parallel, []string{"p a -a", "s a -a"}, "-a -a a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &PlanExecutionStatus{Strategy: c.plan}
			for _, text := range c.phases {
				words := strings.Fields(text)
				p := PhaseExecutionStatus{Strategy: map[string]Ordering{"s": Serial, "p": Parallel}[words[0]]}
				for _, w := range words[1:] {
					name, deleted := strings.CutPrefix(w, "-")
					version := "apps/v1"
					if deleted {
						version = "apps/v1beta1" // which tells no objects apart
					}
					p.Steps = append(p.Steps, StepExecutionStatus{Objects: []ObjectExecutionStatus{{APIVersion: version, Kind: "Deployment", Name: name, Deleted: deleted}}})
				}
				s.Phases = append(s.Phases, p)
			}
			var got []string
			for _, o := range s.Reported() {
				got = append(got, map[bool]string{true: "-"}[o.Deleted]+o.Name)
			}
			if g := strings.Join(got, " "); g != c.want {
				t.Errorf("got %q, want %q", g, c.want)
			}
		})
	}
}
