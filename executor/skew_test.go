// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"strings"
	"testing"
	"time"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// TestServerThatIsTooOld: while the server does not store which objects are about to be applied, nothing is applied, and the executor tries
// again with pauses. With a newer server the run goes on.
func TestServerThatIsTooOld(t *testing.T) {
	w := newWorld(t, "s=a")
	w.old = true
	stop := w.start()
	defer stop()
	tries := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.same
	}
	began := time.Now()
	w.wait("some tries", func() bool { return tries() >= 4 })
	if took := time.Since(began); took < 4*retryFirst { // the pauses of three tries, which double
		t.Errorf("%d tries in %v", tries(), took)
	}
	if w.count("a") != 0 {
		t.Error("it was applied")
	}
	said := func() string {
		w.c.mu.Lock()
		defer w.c.mu.Unlock()
		return w.c.runs["ns/run"].lastError
	}
	w.wait("the error", func() bool { return strings.Contains(said(), "older than kudo-executor") })
	w.mu.Lock()
	w.old = false
	w.mu.Unlock()
	w.waitStatus(v1beta1.ExecutionComplete)
	if w.count("a") != 1 {
		t.Errorf("it was applied %d times", w.count("a"))
	}
}
