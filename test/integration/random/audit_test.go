// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/test/integration/random/history"
)

// Annotations by which the executor marks what it applies.
const (
	runAnnotation   = "kudo.dev/last-plan-execution-uid"
	phaseAnnotation = "kudo.dev/phase"
	stepAnnotation  = "kudo.dev/step"
)

// readWrites reads from an audit log what the executor wrote for the steps of runs.
func readWrites(audit io.Reader) ([]history.Write, error) {
	var out []history.Write
	lines := bufio.NewScanner(audit)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e struct {
			Verb                     string
			RequestReceivedTimestamp time.Time
			ObjectRef                struct{ Namespace, Name string }
			RequestObject            struct {
				Metadata struct{ Annotations map[string]string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		marks := e.RequestObject.Metadata.Annotations
		if marks[runAnnotation] == "" {
			continue
		}
		out = append(out, history.Write{At: e.RequestReceivedTimestamp, Run: types.UID(marks[runAnnotation]), Phase: marks[phaseAnnotation], Step: marks[stepAnnotation],
			Object: e.ObjectRef.Namespace + "/" + e.ObjectRef.Name, Verb: e.Verb})
	}
	return out, lines.Err()
}
