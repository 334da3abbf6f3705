// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package validation

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/apis/kudo"
)

// ValidateParameterValues checks the values of an Instance against the parameters of its OperatorVersion, with all errors at
// once. As in KUDO 0.19 an empty value is valid unless the parameter is required and has no default.
func ValidateParameterValues(definitions []kudo.Parameter, values map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range definitions {
		definition := &definitions[i]
		value, set := values[definition.Name]
		if !set && definition.Default != nil {
			continue
		}
		if value == "" {
			if definition.Required != nil && *definition.Required && definition.Default == nil {
				errs = append(errs, field.Required(path.Key(definition.Name), requiredDetail(definition)))
			}
			continue
		}
		errs = append(errs, ValidateParameterValue(definition, value, path.Key(definition.Name))...)
	}
	return errs
}

// ValidateParameterNames refuses values of parameters that are not defined. Instances that exist may hold such values, as in KUDO
// 0.19; new ones are most likely misspelt.
func ValidateParameterNames(definitions []kudo.Parameter, values map[string]string, path *field.Path) field.ErrorList {
	names := sets.New[string]()
	for _, definition := range definitions {
		names.Insert(definition.Name)
	}
	var errs field.ErrorList
	for _, name := range sets.List(sets.KeySet(values).Difference(names)) {
		errs = append(errs, field.NotSupported(path.Key(name), name, sets.List(names)))
	}
	return errs
}

func requiredDetail(p *kudo.Parameter) string {
	detail := "the OperatorVersion requires a value and has no default"
	if p.Description != "" {
		detail += ": " + p.Description
	}
	return detail
}

// ValidateParameterValue checks one value that is not empty against type and enum of its definition.
func ValidateParameterValue(p *kudo.Parameter, value string, path *field.Path) field.ErrorList {
	var err error
	switch p.Type {
	case kudo.IntegerValueType:
		_, err = strconv.ParseInt(value, 10, 64)
	case kudo.NumberValueType:
		_, err = strconv.ParseFloat(value, 64)
	case kudo.BooleanValueType:
		_, err = strconv.ParseBool(value)
	case kudo.ArrayValueType:
		err = yaml.Unmarshal([]byte(value), &[]any{})
	case kudo.MapValueType:
		err = yaml.Unmarshal([]byte(value), &map[string]any{})
	}
	if err != nil {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("the parameter is of type %s: %v", p.Type, err))}
	}
	if p.Enum != nil && !slices.Contains(p.Enum, value) {
		return field.ErrorList{field.NotSupported(path, value, p.Enum)}
	}
	return nil
}
