// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify

import (
	"context"
	"fmt"
	"slices"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
)

// Package applies all rules to a package. The extended checks are names of Extended; an error says that one is unknown.
func Package(ctx context.Context, p *bundle.Package, extended ...string) (*Result, error) {
	c := &checker{p: p, seen: map[Finding]bool{}}
	more, err := extendedRules(extended)
	if err != nil {
		return nil, err
	}
	var faults []*bundle.Fault
	c.wire, faults = p.WireParameters()
	c.uses = templateUses(p.Templates)
	for _, rule := range []func(*checker){
		keys, parameterNames, versions, (*checker).tasks, taskReferences, plans, triggers,
		parameterUses, parameterValues, parameterGroups, templateReferences,
	} {
		rule(c)
	}
	for _, fault := range faults {
		c.add(Error, *fault)
	}
	children(ctx, c)
	c.rendering()
	namespaces(c)
	size(c)
	for _, rule := range more {
		rule(c)
	}
	return &c.result, nil
}

// checker is what rules work with.
type checker struct {
	p *bundle.Package
	// wire are the parameters as the OperatorVersion will have them, in the order of params.yaml.
	wire []v1beta1.Parameter
	// uses are what templates use, by their names.
	uses   map[string]*use
	result Result
	seen   map[Finding]bool
}

// add records a finding.
func (c *checker) add(severity Severity, fault bundle.Fault) {
	finding := Finding{Fault: fault, Severity: severity}
	if !c.seen[finding] {
		c.seen[finding] = true
		c.result.Findings = append(c.result.Findings, finding)
	}
}

// operator records a finding at a path of operator.yaml.
func (c *checker) operator(severity Severity, path []any, format string, args ...any) {
	c.add(severity, bundle.Fault{File: bundle.OperatorFileName, Line: c.p.Line(bundle.OperatorFileName, path...), Message: fmt.Sprintf(format, args...)})
}

// params records a finding at a path of params.yaml.
func (c *checker) params(severity Severity, path []any, format string, args ...any) {
	c.add(severity, bundle.Fault{File: bundle.ParamsFileName, Line: c.p.Line(bundle.ParamsFileName, path...), Message: fmt.Sprintf(format, args...)})
}

// template records a finding in a template.
func (c *checker) template(severity Severity, name string, line int, format string, args ...any) {
	c.add(severity, bundle.Fault{File: c.p.TemplateFile(name), Line: line, Message: fmt.Sprintf(format, args...)})
}

// at makes a path.
func at(steps ...any) []any { return steps }

// below makes a longer path of one.
func below(path []any, steps ...any) []any { return append(slices.Clip(path), steps...) }

// keys reports what reading passes over: keys that the format does not know, keys that are there twice, and templates that
// are no text.
func keys(c *checker) {
	for _, mistake := range c.p.Mistakes() {
		severity := Error
		if mistake.Kind == bundle.UnknownKey || mistake.Kind == bundle.OtherCase {
			severity = Warning
		}
		c.add(severity, mistake.Fault)
	}
	for _, fault := range c.p.NotText() {
		fault := *fault
		fault.Message += "; it is left out, as no task names it"
		c.add(Warning, fault)
	}
	for _, file := range c.p.MoreDocuments() {
		c.add(Warning, bundle.Fault{File: file, Message: "only the first YAML document is read; remove the others"})
	}
}
