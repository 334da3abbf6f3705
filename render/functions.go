// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"
	"sync"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v2"
)

// removedFunctions are the functions of Sprig that KUDO takes out: the first two would read the environment of the
// process that renders, the others compute on file paths, which templates have none of.
var removedFunctions = []string{"env", "expandenv", "base", "dir", "clean", "ext", "isAbs"}

// functions returns what templates can call besides the functions of text/template: those of Sprig 2.22 without
// removedFunctions, and toYaml. The list is part of the package format. Sprig 3 must not be used in its place:
// functions of the same name behave differently there.
func functions() template.FuncMap {
	funcs := sprig.TxtFuncMap()
	for _, name := range removedFunctions {
		delete(funcs, name)
	}
	funcs["toYaml"], funcs["keys"], funcs["values"] = toYAML, sortedKeys, sortedValues
	return funcs
}

// noFolding switches off, once for the process, that yaml.v2 breaks lines longer than 80 characters. KUDO used a
// version that did not break them, and a template that puts toYaml into a block of text relies on that.
var noFolding = sync.OnceFunc(yaml.FutureLineWrap)

// toYAML is the template function toYaml: keys sorted, lists not indented, long lines not broken, a line feed at the end.
func toYAML(value any) (string, error) {
	noFolding()
	text, err := yaml.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("toYaml: %w", err)
	}
	return string(text), nil
}
