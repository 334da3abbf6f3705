// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

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
	// +optional
	DisplayName string `json:"displayName,omitempty" protobuf:"bytes,1,opt,name=displayName"`
	// name by which templates and Instances refer to the parameter.
	// +optional
	Name string `json:"name,omitempty" protobuf:"bytes,2,opt,name=name"`
	// description says what the parameter does.
	// +optional
	Description string `json:"description,omitempty" protobuf:"bytes,3,opt,name=description"`
	// required makes an Instance without a value invalid, unless there is a default. Defaults to false.
	// +optional
	Required *bool `json:"required,omitempty" protobuf:"varint,4,opt,name=required"`
	// default is the value used when the Instance sets none: always text; lists and mappings are YAML.
	// +optional
	Default *string `json:"default,omitempty" protobuf:"bytes,5,opt,name=default"`
	// trigger is the plan that runs when the value changes. Empty means update or, if there is none, deploy.
	// +optional
	Trigger string `json:"trigger,omitempty" protobuf:"bytes,6,opt,name=trigger"`
	// value-type is string, integer, number, boolean, array or map. Empty means that any text is valid.
	// +optional
	Type ParameterType `json:"value-type,omitempty" protobuf:"bytes,7,opt,name=valueType,casttype=ParameterType"`
	// immutable forbids a change of the value after the Instance was created. Defaults to false.
	// +optional
	Immutable *bool `json:"immutable,omitempty" protobuf:"varint,8,opt,name=immutable"`
	// enum lists the values that are allowed. Absent means that all are; an empty list allows none.
	// +optional
	// +listType=atomic
	Enum EnumValues `json:"enum,omitzero" protobuf:"bytes,9,opt,name=enum"`
}

// EnumValues lists the values that a parameter may have. Absent and empty differ.
// +protobuf.nullable=true
// +protobuf.options.(gogoproto.goproto_stringer)=false
type EnumValues []string
