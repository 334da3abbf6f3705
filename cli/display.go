// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Colours of a terminal, as ANSI escape sequences.
const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	grey   = "\x1b[90m"
	plain  = "\x1b[0m"
)

// display shows a tree that changes. On a terminal it draws over what it drew before; elsewhere it prints the tree
// once and then the lines that change, so that logs stay short.
type display struct {
	out              io.Writer
	terminal, colour bool
	// size of the terminal in characters; tests replace it.
	size  func() (width, height int)
	drawn int
	seen  map[string]string
}

// newDisplay returns a display for the writer. Colours need a terminal, and that NO_COLOR is not set
// (https://no-color.org).
func newDisplay(out io.Writer) *display {
	d := &display{out: out, seen: map[string]string{}}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		d.terminal = true
		d.colour = os.Getenv("NO_COLOR") == ""
		d.size = func() (int, int) {
			width, height, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 80, 24
			}
			return width, height
		}
	}
	return d
}

// show shows the tree as it is now.
func (d *display) show(lines []line) {
	width, height := 0, 0
	if d.terminal {
		width, height = d.size()
	}
	// A tree that is higher than the terminal cannot be drawn over: its first lines are out of reach.
	if d.terminal && len(lines) < height {
		d.redraw(lines, width)
		return
	}
	first := len(d.seen) == 0
	for _, l := range lines {
		text := l.content()
		if d.seen[l.path] == text {
			continue
		}
		d.seen[l.path] = text
		if first {
			_, _ = fmt.Fprintln(d.out, d.paint(l, l.indent))
		} else {
			_, _ = fmt.Fprintln(d.out, d.paint(l, l.path+": "))
		}
	}
}

// redraw draws the tree in the place of the last one. Lines are cut at the width of the terminal, because a line
// that wraps would take more rows than are counted.
func (d *display) redraw(lines []line, width int) {
	var text strings.Builder
	if d.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\x1b[J", d.drawn)
	}
	for _, l := range lines {
		if extra := len([]rune(l.text())) - width; width > 0 && extra > 0 {
			after := []rune(l.after)
			l.after = string(after[:max(0, len(after)-extra-1)]) + "…"
		}
		text.WriteString(d.paint(l, l.indent) + "\n")
	}
	d.drawn = len(lines)
	_, _ = io.WriteString(d.out, text.String())
}

// paint returns the line behind a prefix, the status coloured.
func (d *display) paint(l line, prefix string) string {
	if !d.colour || l.status == "" {
		return prefix + l.content()
	}
	return prefix + l.before + "[" + colourOf(l.status) + l.status + plain + "]" + l.after
}

// colourOf says what catches the eye: what is done, what failed, and what is under way.
func colourOf(status string) string {
	switch v1beta1.ExecutionStatus(status) {
	case v1beta1.ExecutionComplete:
		return green
	case v1beta1.ExecutionFatalError:
		return red
	case v1beta1.ExecutionInProgress, v1beta1.ErrorStatus:
		return yellow
	default:
		return grey
	}
}
