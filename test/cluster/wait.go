// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// tailLines is how much of a failed process's log goes into the error.
const tailLines = 12

// poll asks until the answer is nil, and on the context's end returns the last
// answer, which says more than "deadline exceeded".
func poll(ctx context.Context, every time.Duration, check func(context.Context) error) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// What fails because time is up is not what we waited for.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", last, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// until waits for the check to succeed, no longer than the named processes live.
// The error says what was waited for and ends with the log of the one that ended,
// or of the last named where time ran out.
func (c *Cluster) until(ctx context.Context, what string, check func(context.Context) error, processes ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	suspect := ""
	err := poll(ctx, 20*time.Millisecond, func(ctx context.Context) error {
		err := check(ctx)
		if err == nil {
			return nil
		}
		for _, name := range processes {
			if c.pid(name) == 0 {
				suspect = name
				cancel(fmt.Errorf("%s ended", name))
				break
			}
		}
		return err
	})
	if err == nil {
		return nil
	}
	err = fmt.Errorf("cluster: waiting for %s: %w", what, err)
	if suspect == "" && len(processes) > 0 {
		suspect = processes[len(processes)-1]
	}
	if suspect != "" {
		err = fmt.Errorf("%w\n%s", err, c.tail(suspect))
	}
	return err
}

// tail is the end of a process's log, for people.
func (c *Cluster) tail(name string) string {
	path := c.logPath(name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("the end of %s:\n  %s", path, strings.Join(lines, "\n  "))
}
