// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
)

// parseParameters reads the values of -p name=value and of the files of -P. Later files win over earlier ones, and -p
// wins over files. All faults are collected. Values are not checked: that is for the server, which knows the types.
func parseParameters(pairs, paths []string) (map[string]string, error) {
	values := map[string]string{}
	var faults []string
	for _, path := range paths {
		fromFile, err := parameterFile(path)
		if err != nil {
			faults = append(faults, err.Error())
		}
		maps.Copy(values, fromFile)
	}
	for _, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		switch {
		case !found:
			faults = append(faults, "parameter not set: "+pair)
		case name == "":
			faults = append(faults, "parameter name can not be empty: "+pair)
		case value == "":
			faults = append(faults, "parameter value can not be empty: "+pair)
		default:
			values[name] = value
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("could not parse parameters: %s", strings.Join(faults, ", "))
	}
	return values, nil
}

// parameterFile reads a YAML mapping of values. Lists and mappings become YAML text.
func parameterFile(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the parameter file: %w", err)
	}
	var content map[string]json.RawMessage
	if err := yaml.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("parameter file %s is not a YAML mapping of names to values: %w", path, err)
	}
	values := map[string]string{}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(content)) {
		raw := content[name]
		kind := v1beta1.StringValueType
		if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
			kind = v1beta1.MapValueType
		}
		value, err := bundle.ValueText(raw, kind)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("parameter file %s: %q: %w", path, name, err))
		case value == nil:
			faults = append(faults, fmt.Errorf("parameter file %s: %q has a null value, which is not supported; write \"\" for an empty one", path, name))
		default:
			values[name] = *value
		}
	}
	return values, errors.Join(faults...)
}

// missingParameters names, in their order, the parameters that need a value and have none.
func missingParameters(defs []v1beta1.Parameter, values map[string]string) []string {
	var missing []string
	for _, def := range defs {
		_, given := values[def.Name]
		if def.Required != nil && *def.Required && def.Default == nil && !given {
			missing = append(missing, def.Name)
		}
	}
	return missing
}
