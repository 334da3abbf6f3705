// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// ValueText turns the JSON of a value into the text that parameters hold.
//
// For the types array and map that is YAML, keys sorted and with a line feed at the end; there no value becomes the
// YAML null, so that such parameters always have a default, on which packages rely. For other types no value is nil,
// text stays as it is, and numbers and booleans are written plainly: 1000000 and true. KUDO wrote large numbers as
// 1e+06, which no application understands. Lists and mappings without their type become JSON on one line.
func ValueText(value json.RawMessage, t v1beta1.ParameterType) (*string, error) {
	value = bytes.TrimSpace(value)
	none := len(value) == 0 || bytes.Equal(value, []byte("null"))
	var text string
	switch {
	case t == v1beta1.ArrayValueType || t == v1beta1.MapValueType:
		if none {
			value = []byte("null")
		}
		data, err := yaml.JSONToYAML(value)
		if err != nil {
			return nil, err
		}
		text = string(data)
	case none:
		return nil, nil
	case value[0] == '"':
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, err
		}
	default:
		text = string(value)
	}
	return &text, nil
}
