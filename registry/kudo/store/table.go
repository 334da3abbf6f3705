// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Table says how objects of a kind are shown by kubectl get.
type Table struct {
	// Columns in the order of the values of Row.
	Columns []metav1.TableColumnDefinition
	// Row gives the values of one object.
	Row func(runtime.Object) []any
}

var _ rest.TableConvertor = Table{}

// ConvertToTable converts an object or a list.
func (t Table) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if opt, ok := options.(*metav1.TableOptions); !ok || !opt.NoHeaders {
		table.ColumnDefinitions = t.Columns
	}
	if list, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion = list.GetResourceVersion()
		table.Continue = list.GetContinue()
		table.RemainingItemCount = list.GetRemainingItemCount()
	} else if one, err := meta.CommonAccessor(object); err == nil {
		table.ResourceVersion = one.GetResourceVersion()
	}
	var err error
	table.Rows, err = metatable.MetaToTableRow(object, func(obj runtime.Object, _ metav1.Object, _, _ string) ([]any, error) {
		if row := t.Row(obj); row != nil {
			return row, nil
		}
		return nil, fmt.Errorf("%T cannot be shown as a row of this table", obj)
	})
	return table, err
}

// Age is the time since t, as kubectl writes it.
func Age(t metav1.Time) string { return metatable.ConvertToHumanReadableDateType(t) }

// Since is the time since t as kubectl writes it, or nothing if t is absent.
func Since(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return Age(*t)
}

// Took is the time from start to end, or to now while there is no end, as kubectl writes it.
func Took(start, end *metav1.Time) string {
	if start == nil {
		return ""
	}
	until := time.Now()
	if end != nil {
		until = end.Time
	}
	return duration.HumanDuration(until.Sub(start.Time))
}
