// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

var table = store.Table{
	Columns: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object"},
		{Name: "OperatorVersion", Type: "string", Description: "OperatorVersion the content was taken from"},
		{Name: "Age", Type: "date", Description: "Time since the object was created"},
	},
	Row: func(obj runtime.Object) []any {
		r, ok := obj.(*kudo.OperatorVersionRevision)
		if !ok {
			return nil
		}
		return []any{r.Name, r.OperatorVersion.Name, store.Age(r.CreationTimestamp)}
	},
}
