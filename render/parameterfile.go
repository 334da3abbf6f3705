// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// ParameterFile reads the rendered parameterFile of a KudoOperator task: a YAML mapping of names to values, of which lists and mappings
// become YAML text. Numbers and booleans are written plainly; a null is an error, as in KUDO. The name is that of the template and
// serves errors.
func ParameterFile(name, text string) (map[string]string, error) {
	var content map[string]json.RawMessage
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		return nil, fmt.Errorf("template %q: it is not a YAML mapping of parameters to values: %s", name, unknownAnchor.ReplaceAllLiteralString(err.Error(), "unknown anchor; a value that begins with * must be quoted"))
	}
	values := map[string]string{}
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(content)) {
		value, err := parameterText(content[key])
		if err != nil {
			faults = append(faults, fmt.Errorf("template %q: parameter %q: %w", name, key, err))
		}
		values[key] = value
	}
	return values, errors.Join(faults...)
}

func parameterText(raw json.RawMessage) (string, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", errors.New(`it has no value; write "" for an empty one, or leave the parameter out`)
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err
	case raw[0] == '{' || raw[0] == '[':
		text, err := yaml.JSONToYAML(raw)
		return string(text), err
	}
	return string(raw), nil
}
