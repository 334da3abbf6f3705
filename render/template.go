// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"
	"text/template"
)

// Template renders text with the variables. The name is that of the template in the OperatorVersion; errors say it
// together with the line.
//
// The engine is text/template with the functions of Sprig 2.22 that KUDO offers and toYaml. A variable that does not
// exist is an error, at every level; {{ index .Params "x" }} is the way to ask without one. Templates cannot refer
// to each other: a define is visible in its own text only.
//
// What a template may cost is limited: 3 MiB of text, and generous amounts of memory, steps and time.
//
// Errors are final, unless Varying says otherwise: the same input gives the same error again.
func Template(name, text string, v Variables) (string, error) {
	result, _, err := Varying(name, text, v)
	return result, err
}

// Varying is Template that also tells whether a function was called whose result may be another one the next time, such as now or
// randAlpha. If none was, the same input gives the same text, or the same error, again.
func Varying(name, text string, v Variables) (result string, varies bool, err error) {
	result, err = execute(name, text, v, newBudget(maxTime), &varies)
	return result, varies, err
}

// execute renders text within the budget.
func execute(name, text string, v Variables, b *budget, varies *bool) (result string, err error) {
	defer func() {
		// text/template turns the panics of functions into errors, but passes on those it meets itself.
		if r := recover(); r != nil {
			result, err = "", fmt.Errorf("template %q: %v", name, r)
		}
	}()
	t, err := template.New(name).Option("missingkey=error").Funcs(guarded(observed(functions(), varies), b)).Parse(text)
	if err != nil {
		return "", explain(name, err, v)
	}
	if err := b.watch(t); err != nil {
		return "", explain(name, err, v)
	}
	var out limitedWriter
	if err := t.Execute(&out, v.data()); err != nil {
		return "", explain(name, err, v)
	}
	return out.String(), nil
}
