// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import "strings"

// document is one YAML document of a rendered template.
type document struct {
	// text of the document.
	text string
	// number of the document among those that are not empty, from 1.
	number int
	// line of the rendered text at which the document begins, from 1.
	line int
}

// documents splits a rendered text. Documents of blanks, comments and YAML directives only are left out.
//
// KUDO splits wherever a line begins with "---". That cuts texts such as "----BEGIN" in two, so here the marker has
// to stand alone, or before a comment or content, as YAML has it.
func documents(text string) []document {
	var docs []document
	start, first := 1, true
	var lines []string
	// end is what follows the last line of a document. The last document keeps the end that the text has: a block of text at its end
	// has a line feed or not accordingly.
	flush := func(next int, end string) {
		if !blank(lines) {
			// Line numbers in errors are those of the whole text; a document begins at its first line with content.
			docs = append(docs, document{text: strings.Join(lines, "\n") + end, number: len(docs) + 1, line: start})
		}
		lines, start, first = nil, next, true
	}
	for i, line := range strings.Split(text, "\n") {
		marker, content := separator(line)
		if marker {
			flush(i+2, "\n")
			if content {
				start = i + 1
				lines, first = append(lines, line), false
			}
			continue
		}
		if first && blank([]string{line}) {
			start = i + 2
			continue
		}
		first = false
		lines = append(lines, line)
	}
	flush(0, "")
	return docs
}

// separator says whether a line ends a document, and whether content of the next one follows on the same line.
func separator(line string) (marker, content bool) {
	line = strings.TrimRight(line, " \t\r")
	if line == "---" || line == "..." {
		return true, false
	}
	if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "---\t") {
		return false, false
	}
	return true, !strings.HasPrefix(strings.TrimLeft(line[3:], " \t"), "#")
}

// blank says that lines hold no content.
func blank(lines []string) bool {
	for _, line := range lines {
		if text := strings.TrimSpace(line); text != "" && text[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}
