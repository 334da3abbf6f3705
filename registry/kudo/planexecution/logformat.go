// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// logPrinter writes the entries of one run, each once and in order.
type logPrinter struct {
	out  io.Writer
	json bool
	plan string
	// sequence is the last entry that the reader has.
	sequence int64
}

// notice is a line that is no entry: why the stream ends, or that entries are missing.
type notice struct {
	// Notice is the reason, one of the LogNotice constants. No entry has the field.
	Notice string `json:"notice"`
	// Time is that of the server.
	Time metav1.MicroTime `json:"time"`
	// Message is for people.
	Message string `json:"message"`
	// SinceSequence is the last entry before the notice: with it the log is read on.
	SinceSequence int64 `json:"sinceSequence"`
	// Dropped is how many entries are missing.
	Dropped int64 `json:"dropped,omitempty"`
}

// entries writes what the reader does not have yet, in one piece. It first says how many of them are not kept any more.
func (p *logPrinter) entries(log []kudo.PlanExecutionLogEntry) error {
	for len(log) > 0 && log[0].Sequence <= p.sequence {
		log = log[1:]
	}
	if len(log) == 0 {
		return nil
	}
	var page bytes.Buffer
	if missing := lastSequence(log) - p.sequence - int64(len(log)); missing > 0 {
		if err := p.write(&page, p.notice(v1beta1.LogNoticeEntriesDropped, fmt.Sprintf(
			"%d entries after #%d are not kept any more: the log of a run holds %d at most", missing, p.sequence, kudo.MaxLogEntries), missing)); err != nil {
			return err
		}
	}
	for i := range log {
		if err := p.write(&page, &log[i]); err != nil {
			return err
		}
	}
	p.sequence = lastSequence(log)
	_, err := p.out.Write(page.Bytes())
	return err
}

// say writes a notice.
func (p *logPrinter) say(reason, message string) error {
	var page bytes.Buffer
	if err := p.write(&page, p.notice(reason, message, 0)); err != nil {
		return err
	}
	_, err := p.out.Write(page.Bytes())
	return err
}

func (p *logPrinter) notice(reason, message string, dropped int64) *notice {
	return &notice{reason, metav1.NewMicroTime(time.Now().UTC()), message, p.sequence, dropped}
}

// write writes one line: an entry or a notice.
func (p *logPrinter) write(page *bytes.Buffer, what any) error {
	if !p.json {
		switch w := what.(type) {
		case *kudo.PlanExecutionLogEntry:
			page.WriteString(p.text(w))
		case *notice:
			fmt.Fprintf(page, "%s %s", w.Time.UTC().Format(time.RFC3339), w.Message)
		}
		return page.WriteByte('\n')
	}
	if e, ok := what.(*kudo.PlanExecutionLogEntry); ok {
		what = &v1beta1.PlanExecutionLogEntry{Sequence: e.Sequence, Time: e.Time, Phase: e.Phase, Step: e.Step,
			Status: v1beta1.ExecutionStatus(e.Status), Message: e.Message}
	}
	encoder := json.NewEncoder(page) // ends the line
	encoder.SetEscapeHTML(false)
	return encoder.Encode(what)
}

// text is an entry as people read it.
func (p *logPrinter) text(e *kudo.PlanExecutionLogEntry) string {
	what := "plan " + p.plan
	switch {
	case e.Step != "":
		what = "step " + e.Phase + "." + e.Step
	case e.Phase != "":
		what = "phase " + e.Phase
	}
	line := fmt.Sprintf("%s #%d %s %s", e.Time.UTC().Format(time.RFC3339), e.Sequence, what, e.Status)
	if e.Message != "" {
		line += ": " + strings.Join(strings.Fields(e.Message), " ")
	}
	return line
}
