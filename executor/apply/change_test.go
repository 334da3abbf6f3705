// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestChangesOutlastTheirRun: a call that changes the cluster goes on to its answer when its run ends, but not longer than the process,
// and none begins after the end.
func TestChangesOutlastTheirRun(t *testing.T) {
	life, stop := context.WithCancel(context.Background())
	defer stop()
	run, end := context.WithCancel(life)
	c := &Client{Life: life}
	call, done, err := c.change(run)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	end()
	if call.Err() != nil {
		t.Errorf("the end of the run ended the call: %v", call.Err())
	}
	if until, ok := call.Deadline(); !ok || time.Until(until) > callTimeout {
		t.Errorf("the call may take until %v", until)
	}
	if _, _, err := c.change(run); !errors.Is(err, context.Canceled) {
		t.Errorf("a call begins after the end of the run: %v", err)
	}
	if _, err := c.Delete(run, Ref{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an object is deleted after the end of the run: %v", err)
	}
	stop()
	select {
	case <-call.Done():
	case <-time.After(10 * time.Second):
		t.Error("the call outlasts the process")
	}

	run, end = context.WithCancel(context.Background())
	call, done, err = (&Client{}).change(run)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	end()
	if call.Err() == nil {
		t.Error("without a life the call has to end with its context")
	}
}
