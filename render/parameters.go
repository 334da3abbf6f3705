// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Parameters returns the value of every parameter that the OperatorVersion defines, as templates see it: what the run
// sets wins over what the Instance sets, and that over the default. A value that is set but empty counts as set.
//
// Values are text. Those of type map and array are read as YAML; an empty one is nil or an empty list. All others stay
// text, integers and booleans too, as in KUDO: {{ int .Params.NODES }} makes a number of one. Without any value a
// parameter is the empty text. Values for parameters that are not defined are ignored. An error names the parameter
// and where its value came from.
func Parameters(defs []v1beta1.Parameter, instance, run map[string]string) (map[string]any, error) {
	params := make(map[string]any, len(defs))
	for i := range defs {
		def := &defs[i]
		value, source := "", "default"
		if def.Default != nil {
			value = *def.Default
		}
		if set, ok := instance[def.Name]; ok {
			value, source = set, "value of the Instance"
		}
		if set, ok := run[def.Name]; ok {
			value, source = set, "value of the run"
		}
		parsed, err := parameterValue(def.Type, value)
		if err != nil {
			return nil, fmt.Errorf("parameter %q: the %s cannot be read as YAML of type %s: %w", def.Name, source, def.Type, err)
		}
		params[def.Name] = parsed
	}
	return params, nil
}

// parameterValue reads one value as its type says.
func parameterValue(t v1beta1.ParameterType, value string) (any, error) {
	switch t {
	case v1beta1.MapValueType:
		// What it holds is not checked here: KUDO does not either, and validation has done it when the value was set.
		return parseYAML(value)
	case v1beta1.ArrayValueType:
		content, err := parseYAML(value)
		if err != nil {
			return nil, err
		}
		list, ok := content.([]any)
		if !ok && content != nil {
			return nil, fmt.Errorf("it is %s, not a list", kindOf(content))
		}
		return list, nil
	default:
		return value, nil
	}
}

// parseYAML reads YAML by way of JSON, so that all keys are text. Integers stay integers; KUDO made floating-point
// numbers of them, which templates then wrote as 1e+06.
func parseYAML(text string) (any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	var content any
	err = json.Unmarshal(data, &content)
	return content, err
}
