// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

var table = store.Table{
	Columns: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object"},
		{Name: "Kubernetes", Type: "string", Description: "Oldest Kubernetes version that is supported"},
		{Name: "Description", Type: "string", Priority: 1, Description: "What the operator runs"},
		{Name: "URL", Type: "string", Priority: 1, Description: "Home page"},
		{Name: "Age", Type: "date", Description: "Time since the object was created"},
	},
	Row: func(obj runtime.Object) []any {
		o, ok := obj.(*kudo.Operator)
		if !ok {
			return nil
		}
		return []any{o.Name, o.Spec.KubernetesVersion, o.Spec.Description, o.Spec.URL, store.Age(o.CreationTimestamp)}
	},
}
