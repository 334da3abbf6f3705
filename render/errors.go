// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	// engineError matches the texts of text/template, whose errors have no fields: where and what.
	engineError = regexp.MustCompile(`(?s)^template: .*?:(\d+)(?::(\d+))?: (?:executing .*? at <(.*?)>: )?(.*)$`)
	missingKey  = regexp.MustCompile(`^map has no entry for key "(.*)"$`)
	unknownFunc = regexp.MustCompile(`^function "(.*)" not defined$`)
	// variableRoot is the optional variable before the first dot, as in $root.Params.
	variableRoot = regexp.MustCompile(`^\$\w*`)
)

// Error says what is wrong with a template and where.
type Error struct {
	// Template is the name of the template.
	Template string
	// Line and Column are where in the template, counted from 1; 0 if unknown.
	Line, Column int
	// Message says what is wrong and what to do.
	Message string
}

// Error returns one line: the template, the place, what is wrong.
func (e *Error) Error() string {
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column > 0 {
		place += fmt.Sprintf(", column %d", e.Column)
	}
	return fmt.Sprintf("template %q%s: %s", e.Template, place, e.Message)
}

// explain turns an error of the template engine into one that an author of packages understands.
func explain(name string, err error, v Variables) error {
	for _, limit := range []error{errOutput, errBytes, errCalls, errSteps, errTime} {
		if errors.Is(err, limit) {
			return &Error{Template: name, Message: limit.Error()}
		}
	}
	// The name may contain what the pattern looks for; it is known, so it goes first.
	text := strings.Replace(err.Error(), "template: "+name+":", "template: t:", 1)
	m := engineError.FindStringSubmatch(text)
	if m == nil {
		return &Error{Template: name, Message: strings.TrimPrefix(err.Error(), "template: ")}
	}
	e := &Error{Template: name}
	e.Line, e.Column = number(m[1]), number(m[2])
	expression, message := m[3], m[4]
	switch {
	case missingKey.MatchString(message):
		e.Message = missing(expression, missingKey.FindStringSubmatch(message)[1], v)
	case unknownFunc.MatchString(message):
		e.Message = fmt.Sprintf("there is no function %q; templates have those of Go's text/template, of Sprig 2.22 without environment and paths, and toYaml",
			unknownFunc.FindStringSubmatch(message)[1])
	case expression != "":
		e.Message = fmt.Sprintf("%s: %s", expression, message)
	default:
		e.Message = message
	}
	return e
}

// missing says what to do about a variable that does not exist. The engine gives only the first 20 characters of
// the expression, but the whole key.
func missing(expression, key string, v Variables) string {
	path := strings.TrimSuffix(variableRoot.ReplaceAllString(expression, ""), "...")
	is := func(parent string) bool { return path != "" && strings.HasPrefix(parent+key+".", path) }
	_, defined := v.Params[key]
	switch {
	case strings.HasPrefix(path, ".Params.") && is(".Params.") && !defined:
		return fmt.Sprintf(".Params.%s: the operator has no parameter %q; add it to params.yaml or correct the name", key, key)
	case strings.HasPrefix(path, ".Pipes.") && is(".Pipes."):
		return fmt.Sprintf(".Pipes.%s: no Pipe task that ran earlier in this plan has the key %q", key, key)
	case (key == "PlanName" || key == "PhaseName" || key == "StepName") && is("."):
		return fmt.Sprintf(".%s: no plan runs where this template is rendered, so it has none", key)
	case is("."):
		return fmt.Sprintf(".%s: there is no variable %q; there are AppVersion, Name, Namespace, OperatorName, OperatorVersion, Params, PhaseName, Pipes, PlanName and StepName", key, key)
	default:
		return fmt.Sprintf("%s: the value has no key %q; check the key, or ask for it with index or hasKey", expression, key)
	}
}

// number reads digits that a pattern has matched; what is not a number is 0, which stands for unknown.
func number(digits string) int {
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}
