// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"
)

// write is something the executor did to an object.
type write struct {
	verb, name string
	code       int
	at         time.Time
}

// writes are all that the executor did to the objects of a namespace since a moment, in order.
func writes(t *testing.T, namespace string, since time.Time) []write {
	t.Helper()
	data, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	var out []write
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(namespace)) {
			continue
		}
		var e struct {
			Verb                     string
			RequestReceivedTimestamp time.Time
			ObjectRef                struct{ Namespace, Name string }
			ResponseStatus           struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // the last line is being written
		}
		if e.ObjectRef.Namespace == namespace && e.RequestReceivedTimestamp.After(since) {
			out = append(out, write{e.Verb, e.ObjectRef.Name, e.ResponseStatus.Code, e.RequestReceivedTimestamp})
		}
	}
	return out
}

// inOrder checks that no step of a serial plan did anything after a later one had: a step begins when those before it are
// on record as complete, so whatever comes after that was done again. Nor may a step have done anything more often than
// the executor was started.
func inOrder(t *testing.T, all []write, starts int) {
	t.Helper()
	last := ""
	count := map[string]int{}
	for _, w := range all {
		step := w.name
		if w.verb == "delete" { // by the step after the one that applied it
			var n int
			if _, err := fmt.Sscanf(w.name, "s%d", &n); err != nil {
				t.Fatal(err)
			}
			step = stepName(n + 1)
		}
		if step < last {
			t.Errorf("%s of %s (%d) at %v, after step %s", w.verb, w.name, w.code, w.at, last)
		}
		last = max(last, step)
		count[step]++
	}
	for i := range steps {
		name := stepName(i)
		if n := count[name]; kindOf(i) != nothing && (n < 1 || n > starts) {
			t.Errorf("step %s wrote %d times with %d starts of the executor", name, n, starts)
		}
	}
}
