// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package kudo

// ParameterType says how the text of a parameter's value is understood.
type ParameterType string

const (
	// StringValueType is any text.
	StringValueType ParameterType = "string"
	// IntegerValueType is a decimal integer of 64 bits.
	IntegerValueType ParameterType = "integer"
	// NumberValueType is a floating-point number of 64 bits.
	NumberValueType ParameterType = "number"
	// BooleanValueType is what Go's strconv.ParseBool accepts.
	BooleanValueType ParameterType = "boolean"
	// ArrayValueType is the text of a YAML list.
	ArrayValueType ParameterType = "array"
	// MapValueType is the text of a YAML mapping with strings as keys.
	MapValueType ParameterType = "map"
)

// Parameter is something an Instance may set.
type Parameter struct {
	// displayName is the name shown to people.
	DisplayName string
	// name by which templates and Instances refer to the parameter.
	Name string
	// description says what the parameter does.
	Description string
	// required makes an Instance without a value invalid, unless there is a default. Defaults to false.
	Required *bool
	// default is the value used when the Instance sets none: always text; lists and mappings are YAML.
	Default *string
	// trigger is the plan that runs when the value changes. Empty means update or, if there is none, deploy.
	Trigger string
	// value-type is string, integer, number, boolean, array or map. Empty means that any text is valid.
	Type ParameterType
	// immutable forbids a change of the value after the Instance was created. Defaults to false.
	Immutable *bool
	// enum lists the values that are allowed. Absent means that all are; an empty list allows none.
	Enum EnumValues
}

// EnumValues lists the values that a parameter may have. Absent and empty differ.
type EnumValues []string
