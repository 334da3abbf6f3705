// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package fault

import (
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxValue is how much of a refused value a message repeats.
const maxValue = 120

// Brief is an error of the API server as people want to read it. The server repeats the whole value that it refused: all
// of a pod template, with whatever the environment of its containers holds. Brief leaves long values out, and all those of
// a wrong type: a password of digits is a number where nobody quoted it.
func Brief(err error) string {
	status := apiStatus(err)
	if status == nil || status.Reason != metav1.StatusReasonInvalid || status.Details == nil || len(status.Details.Causes) == 0 {
		return withoutMismatches(err.Error())
	}
	var parts []string
	for _, c := range status.Details.Causes {
		parts = append(parts, fmt.Sprintf("%s: %s", c.Field, withoutMismatches(withoutValue(c.Message))))
	}
	return fmt.Sprintf("%s %q is invalid: %s", status.Details.Kind, status.Details.Name, strings.Join(parts, "; "))
}

var (
	// mismatch is how server-side apply begins to tell of a value that does not fit its schema. It repeats the value next,
	// as Go prints it, on however many lines it has.
	mismatch = regexp.MustCompile(`expected [a-z ()]+, got `)
	// afterMismatch is the next error of a list.
	afterMismatch = regexp.MustCompile(`\n  \.[^\n]*: (expected |field not declared)`)
)

func withoutMismatches(text string) string {
	var out strings.Builder
	for {
		at := mismatch.FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at[1]] + "another type (value left out; quote it in the template)")
		next := afterMismatch.FindStringIndex(text[at[1]:])
		if next == nil {
			return out.String()
		}
		text = text[at[1]+next[0]:]
	}
}

// withoutValue shortens 'Invalid value: {…}: what is wrong' if the value is long.
func withoutValue(message string) string {
	kind, rest, ok := strings.Cut(message, ": ")
	if !ok || len(rest) <= maxValue {
		return message
	}
	// The value is JSON or a Go value in quotes or braces; what is wrong comes after its end.
	for _, end := range []string{"}: ", "]: ", "\": "} {
		if i := strings.LastIndex(rest, end); i >= 0 && len(rest)-i < 1000 {
			return kind + " (value left out): " + rest[i+len(end):]
		}
	}
	return kind + ": " + strings.ToValidUTF8(rest[:maxValue], "") + "…"
}
