// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package child

import (
	"slices"
	"strings"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

// Acyclic fails if the OperatorVersion of a child would, by way of the KudoOperator tasks of its plans, come to the one of the parent
// or to itself again: every Instance would make another one without end. read returns an OperatorVersion by its name, nil if there is
// none.
func Acyclic(parent, version string, read func(name string) (*v1beta1.OperatorVersion, error)) error {
	return (&search{read: read, known: map[string]bool{}}).from([]string{parent}, version)
}

type search struct {
	read func(string) (*v1beta1.OperatorVersion, error)
	// known are the names from which no cycle comes.
	known map[string]bool
}

func (s *search) from(path []string, name string) error {
	chain := append(slices.Clone(path), name)
	if slices.Contains(path, name) {
		return fault.Finalf(fault.ReasonCycle, "the KudoOperator tasks make a cycle of OperatorVersions: %s; an operator cannot be a part of itself: take the task out of one of them", strings.Join(chain, " -> "))
	}
	if s.known[name] {
		return nil
	}
	ov, err := s.read(name)
	if err != nil || ov == nil {
		return err // one that does not exist ends the run of the Instance that needs it
	}
	for _, t := range ov.Spec.Tasks {
		if t.Kind != v1beta1.KudoOperatorTaskKind || !used(&ov.Spec, t.Name) {
			continue
		}
		if err := s.from(chain, VersionName(&t.Spec)); err != nil {
			return err
		}
	}
	s.known[name] = true
	return nil
}

// used tells whether a plan names a task.
func used(spec *v1beta1.OperatorVersionSpec, task string) bool {
	for _, plan := range spec.Plans {
		for _, phase := range plan.Phases {
			for _, step := range phase.Steps {
				if slices.Contains(step.Tasks, task) {
					return true
				}
			}
		}
	}
	return false
}
