// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import "maps"

// Variables are what a template sees, each under the name of its field: {{ .Name }}, {{ .Params.NODES }} and so on.
//
// The names are those of KUDO 0.19 and part of the package format.
type Variables struct {
	// OperatorName is the name of the Operator.
	OperatorName string
	// Name is the name of the Instance.
	Name string
	// Namespace is the namespace of the Instance.
	Namespace string
	// AppVersion is the version of the application, OperatorVersion.spec.appVersion. It may be empty.
	AppVersion string
	// OperatorVersion is the version of the operator, OperatorVersion.spec.version.
	OperatorVersion string
	// PlanName, PhaseName and StepName say for what the template is rendered. They are empty where no plan runs; a
	// template that uses them there gets an error.
	PlanName, PhaseName, StepName string
	// Params are the values of all parameters of the OperatorVersion, as Parameters returns them. Templates get a copy.
	Params map[string]any
	// Pipes are the names of the objects that the Pipe tasks of the running plan have made, by their keys.
	Pipes map[string]string
}

// data returns the variables as the map that the template engine gets. It is a map and not the struct because only
// with a map is a missing variable the same error at every level, and because packages write {{ index . "Params" }}.
func (v Variables) data() map[string]any {
	params := make(map[string]any, len(v.Params))
	for name, value := range v.Params {
		params[name] = copyValue(value)
	}
	pipes := make(map[string]string, len(v.Pipes))
	maps.Copy(pipes, v.Pipes)
	data := map[string]any{
		"OperatorName":    v.OperatorName,
		"Name":            v.Name,
		"Namespace":       v.Namespace,
		"AppVersion":      v.AppVersion,
		"OperatorVersion": v.OperatorVersion,
		"Params":          params,
		"Pipes":           pipes,
	}
	for name, value := range map[string]string{"PlanName": v.PlanName, "PhaseName": v.PhaseName, "StepName": v.StepName} {
		if value != "" {
			data[name] = value
		}
	}
	return data
}

// copyValue copies lists and maps deeply. Sprig's set, unset and merge change their argument in place; without the
// copy, one template could change what the next one sees, and the result would depend on their order.
func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		c := make(map[string]any, len(v))
		for key, item := range v {
			c[key] = copyValue(item)
		}
		return c
	case []any:
		if v == nil {
			return v
		}
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = copyValue(item)
		}
		return c
	default:
		return v
	}
}
