// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/api/harness"
)

// longerThan is more than the minute after which kube-apiserver cuts what it does not know to be a stream.
const longerThan = 75 * time.Second

// TestWatchOutlivesAMinute: a watch on one run goes on after a minute, and tells of its deletion.
func TestWatchOutlivesAMinute(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := hold(t, ns, "db")
	begin := time.Now()
	lines := stream(t, harness.Path(ns, "planexecutions")+"?watch=true&fieldSelector=metadata.name%3D"+run)
	if got := eventType(t, <-lines); got != "ADDED" {
		t.Errorf("first event %s", got)
	}
	quiet(t, lines, longerThan)
	env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "planexecutions", run),
		Body: `{"metadata":{"labels":{"late":"yes"}}}`})
	if got := eventType(t, next(t, lines)); got != "MODIFIED" {
		t.Errorf("after %s: event %s", time.Since(begin), got)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run)})
	if got := eventType(t, next(t, lines)); got != "DELETED" {
		t.Errorf("after the deletion: event %s", got)
	}
}

// TestLogOutlivesAMinute: a log that is followed goes on after a minute, arrives line by line, and ends when its run is deleted.
func TestLogOutlivesAMinute(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := hold(t, ns, "db")
	lines := stream(t, harness.Path(ns, "planexecutions", run, "log")+"?follow=true")
	for first := next(t, lines); !strings.Contains(first, "main.hold"); first = next(t, lines) {
		t.Log(first)
	}
	quiet(t, lines, longerThan)
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run)})
	last := ""
	for line := range lines {
		last = line
		t.Log(line)
	}
	if !strings.Contains(last, "deleted") {
		t.Errorf("the last line is %q", last)
	}
}

// TestLogEndsWithTheRun: a log that is followed ends by itself when the run does, with all of its steps.
func TestLogEndsWithTheRun(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger")}).Object(t).GetName()
	lines := stream(t, harness.Path(ns, "planexecutions", run, "log")+"?follow=true")
	at := time.Now().UTC().Format(time.RFC3339)
	env.Report(t, ns, run, fmt.Sprintf(`{"status":"IN_PROGRESS","startTime":%q}`, at))
	env.Report(t, ns, run, fmt.Sprintf(`{"status":"COMPLETE","completionTime":%[1]q,"phases":[{"name":"main","status":"COMPLETE","startTime":%[1]q,"completionTime":%[1]q,"steps":[
		{"name":"only","status":"COMPLETE","startTime":%[1]q,"completionTime":%[1]q}]}]}`, at))
	var all []string
	for line := range lines {
		all = append(all, line)
	}
	text := strings.Join(all, "\n")
	if !strings.Contains(text, "main.only COMPLETE") || !strings.Contains(all[len(all)-1], "restore") || !strings.Contains(all[len(all)-1], "COMPLETE") {
		t.Errorf("the log is\n%s", text)
	}
	again := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, "planexecutions", run, "log"), Accept: "*/*"})
	if got := strings.TrimSpace(again.Body); strings.Count(got, "\n") > len(all) {
		t.Errorf("afterwards the log is\n%s", got)
	}
}

// stream sends the lines of an answer until it ends, then closes the channel.
func stream(t *testing.T, path string) <-chan string {
	t.Helper()
	resp := env.Open(t.Context(), t, harness.Request{Method: "GET", Path: path, Accept: "*/*"})
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, resp.Status)
	}
	lines := make(chan string, 100)
	go func() {
		defer resp.Body.Close()
		defer close(lines)
		for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// next is the next line, which must come soon.
func next(t *testing.T, lines <-chan string) string {
	t.Helper()
	select {
	case line, open := <-lines:
		if !open {
			t.Fatal("the stream has ended")
		}
		return line
	case <-time.After(patience):
		t.Fatal("nothing comes")
	}
	return ""
}

// quiet fails the test if the stream ends within d. What it says meanwhile is logged.
func quiet(t *testing.T, lines <-chan string, d time.Duration) {
	t.Helper()
	begin, over := time.Now(), time.After(d)
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatalf("the stream ended after %s", time.Since(begin))
			}
			t.Logf("after %s: %.200s", time.Since(begin).Round(time.Second), line)
		case <-over:
			return
		}
	}
}

func eventType(t *testing.T, line string) string {
	t.Helper()
	var event struct{ Type string }
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	return event.Type
}
