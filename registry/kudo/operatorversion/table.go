// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package operatorversion

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

var table = store.Table{
	Columns: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object"},
		{Name: "Operator", Type: "string", Description: "Operator this is a version of"},
		{Name: "Version", Type: "string", Description: "Version of the operator"},
		{Name: "App", Type: "string", Description: "Version of the application"},
		{Name: "Plans", Type: "string", Priority: 1, Description: "Names of the plans"},
		{Name: "Parameters", Type: "integer", Priority: 1, Description: "Number of parameters"},
		{Name: "Age", Type: "date", Description: "Time since the object was created"},
	},
	Row: func(obj runtime.Object) []any {
		o, ok := obj.(*kudo.OperatorVersion)
		if !ok {
			return nil
		}
		return []any{o.Name, o.Spec.Operator.Name, o.Spec.Version, o.Spec.AppVersion, planNames(o), int64(len(o.Spec.Parameters)), store.Age(o.CreationTimestamp)}
	},
}

func planNames(ov *kudo.OperatorVersion) string {
	return strings.Join(slices.Sorted(maps.Keys(ov.Spec.Plans)), ",")
}
