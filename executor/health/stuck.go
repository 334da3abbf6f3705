// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package health

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AnnotationStuckLimit of an object of a plan says how long its pods may be stuck before the run fails: a duration such as 30m, or 0
// for as long as the run may take. Without it the flag of the executor counts.
const AnnotationStuckLimit = "kudo.dev/stuck-pod-limit"

// DefaultStuckLimit is the limit without flag and annotation: as long as Kubernetes gives a Deployment to make progress.
const DefaultStuckLimit = 10 * time.Minute

// StuckLimit is how long the pods of an object may be stuck; 0 means without end. The error says what is wrong with its annotation.
func StuckLimit(obj *unstructured.Unstructured, otherwise time.Duration) (time.Duration, error) {
	text, ok := obj.GetAnnotations()[AnnotationStuckLimit]
	if !ok {
		return otherwise, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit < 0 {
		return 0, fmt.Errorf("the annotation %s is %q; it must be a duration such as 30m or 1h30m, or 0 for no limit", AnnotationStuckLimit, text)
	}
	return limit, nil
}

// settled is how long a container must be without trouble before it counts as mended. One that crashes again and again runs for a while
// in between.
const settled = 2 * time.Minute

// Spells remembers since when containers are stuck. The zero value is ready to use; it is not safe for use by several goroutines.
type Spells struct{ spells map[spellKey]*spell }

type spellKey struct{ pod, container string }

type spell struct {
	since time.Time
	// until is when it was last stuck, zero while it is.
	until time.Time
}

// Longest takes in how things stand and returns the trouble that has lasted longest, and since when; nil if nothing is stuck now.
func (s *Spells) Longest(troubles []Trouble, now time.Time) (longest *Trouble, since time.Time) {
	if s.spells == nil {
		s.spells = map[spellKey]*spell{}
	}
	stuck := map[spellKey]bool{}
	for i := range troubles {
		t := &troubles[i]
		if !t.Stuck {
			continue
		}
		key := spellKey{string(t.UID), t.Container}
		stuck[key] = true
		if old := s.spells[key]; old == nil || !old.until.IsZero() && now.Sub(old.until) >= settled {
			s.spells[key] = &spell{since: now}
		}
		s.spells[key].until = time.Time{}
		if longest == nil || s.spells[key].since.Before(since) {
			longest, since = t, s.spells[key].since
		}
	}
	for key, old := range s.spells {
		switch {
		case stuck[key]:
		case old.until.IsZero():
			old.until = now
		case now.Sub(old.until) >= settled:
			delete(s.spells, key)
		}
	}
	return longest, since
}
