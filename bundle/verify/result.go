// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import "kudo.dev/kudo/bundle"

// Severity says what a finding means for the package.
type Severity string

const (
	// Error is a mistake: the package is not valid.
	Error Severity = "error"
	// Warning is something that is most likely not meant so.
	Warning Severity = "warning"
)

// Finding is something that a rule found.
type Finding struct {
	// Fault says what and where.
	bundle.Fault
	// Severity of the rule.
	Severity Severity
}

// Result is what all rules found, in the order of the rules.
type Result struct {
	// Findings of both severities. The same one is never there twice.
	Findings []Finding
}

// Valid says that there are no errors.
func (r *Result) Valid() bool { return len(r.Errors()) == 0 }

// Errors returns the texts of all errors, each with file and line.
func (r *Result) Errors() []string { return r.texts(Error) }

// Warnings returns the texts of all warnings, each with file and line.
func (r *Result) Warnings() []string { return r.texts(Warning) }

func (r *Result) texts(severity Severity) []string {
	texts := []string{}
	for i := range r.Findings {
		if finding := &r.Findings[i]; finding.Severity == severity {
			texts = append(texts, finding.Error())
		}
	}
	return texts
}
