// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const patience = 20 * time.Second

// waitsFor is a status in which step one waits for something.
func waitsFor(what any) kudo.PlanExecutionStatus {
	return phaseOf(progressStatus, progressStatus, [3]string{"one", "IN_PROGRESS", fmt.Sprint("waits for ", what)})
}

func endedStatus() kudo.PlanExecutionStatus {
	return phaseOf(completeStatus, completeStatus, [3]string{"one", "COMPLETE"})
}

func newRun() *kudo.PlanExecution {
	run := runOf(phaseOf(pendingStatus, pendingStatus, [3]string{"one", "PENDING"}))
	appendLog(nil, run, noon)
	return run
}

// open starts a stream. The lines come until it ends.
func open(t *testing.T, m *memory, shutdown <-chan struct{}, options kudo.PlanExecutionLogOptions) <-chan string {
	t.Helper()
	out := reader(t, m, shutdown, options)
	lines := make(chan string, 10000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}

func reader(t *testing.T, m *memory, shutdown <-chan struct{}, options kudo.PlanExecutionLogOptions) io.Reader {
	t.Helper()
	obj, err := (&LogREST{m, shutdown}).Get(t.Context(), "run", &options)
	if err != nil {
		t.Fatal(err)
	}
	out, flush, _, err := obj.(*logStream).InputStream(t.Context(), "", "")
	if err != nil || flush != options.Follow {
		t.Fatalf("flush %v, %v", flush, err)
	}
	t.Cleanup(func() { _ = out.Close() })
	return out
}

// until reads lines up to one that contains the text.
func until(t *testing.T, lines <-chan string, text string) []string {
	t.Helper()
	var all []string
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("the stream has ended without %q: %q", text, all)
			}
			if all = append(all, line); strings.Contains(line, text) {
				return all
			}
		case <-timeout:
			t.Fatalf("%q does not come: %q", text, all)
		}
	}
}

// remaining reads lines up to the end of the stream.
func remaining(t *testing.T, lines <-chan string) []string {
	t.Helper()
	var all []string
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return all
			}
			all = append(all, line)
		case <-timeout:
			t.Fatalf("the stream does not end: %q", all)
		}
	}
}

// gapless checks that lines of text are numbered from first on.
func gapless(t *testing.T, lines []string, first int) {
	t.Helper()
	for i, line := range lines {
		if !strings.Contains(line, fmt.Sprintf(" #%d ", first+i)) {
			t.Errorf("line %d is %q, want entry #%d", i, line, first+i)
		}
	}
}

func TestFollowUntilTheEnd(t *testing.T) {
	m := newMemory(newRun())
	lines := open(t, m, nil, kudo.PlanExecutionLogOptions{Follow: true})
	all := until(t, lines, "#1 ")
	m.set(waitsFor("a"))
	all = append(all, until(t, lines, "waits for a")...)
	m.set(endedStatus())
	all = append(all, remaining(t, lines)...)
	gapless(t, all, 1)
	if len(all) != 7 || !strings.HasSuffix(all[6], "plan deploy COMPLETE") {
		t.Errorf("the log is %q", all)
	}
	gapless(t, remaining(t, open(t, m, nil, kudo.PlanExecutionLogOptions{Follow: true, SinceSequence: 5})), 6)
	if got := remaining(t, open(t, m, nil, kudo.PlanExecutionLogOptions{Follow: true, SinceSequence: 7})); got != nil {
		t.Errorf("after the end: %q", got)
	}
	if got := remaining(t, open(t, m, nil, kudo.PlanExecutionLogOptions{})); len(got) != 7 {
		t.Errorf("without follow: %q", got)
	}
}

func TestFollowSurvivesBrokenWatches(t *testing.T) {
	m := newMemory(newRun())
	lines := open(t, m, nil, kudo.PlanExecutionLogOptions{Follow: true})
	all := until(t, lines, "#1 ")
	for i := range 3 {
		m.set(waitsFor(i))
		m.breakOff()
		m.mu.Lock()
		m.refused = i // the storage is away for a while
		m.mu.Unlock()
		m.set(waitsFor(fmt.Sprint(i, " more")))
		all = append(all, until(t, lines, fmt.Sprint(i, " more"))...)
	}
	m.set(endedStatus())
	gapless(t, append(all, remaining(t, lines)...), 1)
}

func TestFollowSaysWhyItEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(*memory, chan struct{})
		want string
	}{
		"deleted":                      {func(m *memory, _ chan struct{}) { m.remove() }, v1beta1.LogNoticeDeleted},
		"deleted while nobody watched": {func(m *memory, _ chan struct{}) { m.breakOff(); m.remove() }, v1beta1.LogNoticeDeleted},
		"another run of the name":      {func(m *memory, _ chan struct{}) { m.breakOff(); m.remove(); m.replace(); m.breakOff() }, v1beta1.LogNoticeDeleted},
		"the server stops":             {func(_ *memory, shutdown chan struct{}) { close(shutdown) }, v1beta1.LogNoticeServerStopping},
		"stops while nothing is stored": {func(m *memory, shutdown chan struct{}) {
			m.mu.Lock()
			m.refused = 1000
			m.mu.Unlock()
			m.breakOff()
			close(shutdown)
		}, v1beta1.LogNoticeServerStopping},
	} {
		t.Run(name, func(t *testing.T) {
			m, shutdown := newMemory(newRun()), make(chan struct{})
			m.set(waitsFor("a"))
			lines := open(t, m, shutdown, kudo.PlanExecutionLogOptions{Follow: true, Format: kudo.JSONLogFormat})
			until(t, lines, "waits for a")
			tc.end(m, shutdown)
			got := remaining(t, lines)
			var last notice
			if len(got) != 1 || json.Unmarshal([]byte(got[0]), &last) != nil || last.Notice != tc.want || last.SinceSequence != 4 {
				t.Errorf("the rest is %q", got)
			}
		})
	}
}

// TestSlowReader: who does not read holds nothing up, and reads what is kept when they read on.
func TestSlowReader(t *testing.T) {
	m := newMemory(newRun())
	out := reader(t, m, nil, kudo.PlanExecutionLogOptions{Follow: true, Format: kudo.JSONLogFormat})
	for i := range 3 * kudo.MaxLogEntries {
		m.set(waitsFor(i))
	}
	m.set(endedStatus())
	read, sequence, dropped := 0, int64(0), int64(0)
	for decoder := json.NewDecoder(out); ; read++ {
		var line struct {
			v1beta1.PlanExecutionLogEntry
			Dropped int64
		}
		err := decoder.Decode(&line)
		if err == io.EOF {
			break
		}
		if err != nil || (line.Sequence <= sequence && line.Dropped == 0) {
			t.Fatalf("after #%d: %v, %+v", sequence, err, line)
		}
		sequence, dropped = max(sequence, line.Sequence), dropped+line.Dropped
		if line.Dropped > 0 {
			read--
		}
	}
	if want := lastSequence(m.run.Status.Log); sequence != want || int64(read)+dropped != want || dropped == 0 {
		t.Errorf("%d entries to #%d were read and %d announced as dropped; there were %d", read, sequence, dropped, want)
	}
}

// TestFollowersGo: nothing is left of a follower whose client has gone.
func TestFollowersGo(t *testing.T) {
	m := newMemory(newRun())
	stopped := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s := &logStream{rest: &LogREST{m, nil}, first: m.run, from: "10", options: kudo.PlanExecutionLogOptions{Follow: true}}
	go func() {
		defer close(stopped)
		if err := s.write(ctx, io.Discard); err != nil {
			t.Error(err)
		}
	}()
	cancel()
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Error("the stream goes on")
	}
}

func TestLogOptionsTeach(t *testing.T) {
	m := newMemory(newRun())
	for _, tc := range []struct {
		options kudo.PlanExecutionLogOptions
		want    []string
	}{
		{kudo.PlanExecutionLogOptions{Format: "xml"}, []string{"format", `"xml"`, `"text", "json"`}},
		{kudo.PlanExecutionLogOptions{SinceSequence: -1}, []string{"sinceSequence", "-1", "must not be negative"}},
		{kudo.PlanExecutionLogOptions{SinceSequence: 2}, []string{"sinceSequence", "ends at 1", "another run", "uid 1"}},
	} {
		_, err := (&LogREST{m, nil}).Get(t.Context(), "run", &tc.options)
		if !apierrors.IsBadRequest(err) {
			t.Fatalf("%+v: got %v, want 400", tc.options, err)
		}
		for _, text := range tc.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q does not say %q", err, text)
			}
		}
		if status := err.(apierrors.APIStatus).Status(); len(status.Details.Causes) != 1 || status.Details.Causes[0].Field != tc.want[0] {
			t.Errorf("%+v: details %+v", tc.options, status.Details)
		}
	}
	if _, err := (&LogREST{m, nil}).Get(t.Context(), "none", &kudo.PlanExecutionLogOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want 404", err)
	}
}
