// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Convert_url_Values_To_v1beta1_PlanExecutionLogOptions reads the options from a query. The error says which parameter is wrong.
func Convert_url_Values_To_v1beta1_PlanExecutionLogOptions(in *url.Values, out *PlanExecutionLogOptions, s conversion.Scope) error {
	const name = "sinceSequence"
	if value := in.Get(name); in.Has(name) {
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return field.Invalid(field.NewPath(name), value, "must be a whole number: that of the last entry you have, or 0 for all entries")
		}
	}
	return autoConvert_url_Values_To_v1beta1_PlanExecutionLogOptions(in, out, s)
}
