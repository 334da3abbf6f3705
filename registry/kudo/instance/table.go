// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
	"kudo.dev/kudo/registry/kudo/store"
)

var table = store.Table{
	Columns: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object"},
		{Name: "Operator", Type: "string", Description: "Operator that runs, by the label kudo.dev/operator"},
		{Name: "Version", Type: "string", Description: "OperatorVersion that runs"},
		{Name: "Active Plan", Type: "string", Description: "Plan that runs now"},
		{Name: "Status", Type: "string", Description: "Status of the plan that runs now, or of the last one"},
		{Name: "Ready", Type: "string", Description: "Condition Ready"},
		{Name: "Last Plan", Type: "string", Priority: 1, Description: "Plan that ran last"},
		{Name: "Run", Type: "string", Priority: 1, Description: "PlanExecution that holds the Instance now"},
		{Name: "Objects", Type: "integer", Priority: 1, Description: "Objects in the inventory"},
		{Name: "Age", Type: "date", Description: "Time since the object was created"},
	},
	Row: func(obj runtime.Object) []any {
		i, ok := obj.(*kudo.Instance)
		if !ok {
			return nil
		}
		active, run, status := i.Spec.PlanExecution.PlanName, "", ""
		last := lastPlan(i)
		if last != nil {
			status = string(last.Status)
		}
		if lock.Held(i) {
			status = string(i.Spec.PlanExecution.Status)
			if t := i.Spec.PlanExecution.Template; t != nil {
				run = t.Name
			}
		}
		return []any{i.Name, i.Labels[OperatorLabel], i.Spec.OperatorVersion.Name, active, status, ready(i), nameOf(last), run, int64(len(i.Status.Inventory)), store.Age(i.CreationTimestamp)}
	},
}

func ready(i *kudo.Instance) string {
	if c := meta.FindStatusCondition(i.Status.Conditions, kudo.ReadyConditionType); c != nil {
		return string(c.Status)
	}
	return ""
}

// lastPlan is the plan whose status changed last.
func lastPlan(i *kudo.Instance) *kudo.PlanStatus {
	var last *kudo.PlanStatus
	for _, s := range i.Status.PlanStatus {
		if s.LastUpdatedTimestamp == nil {
			continue
		}
		if last == nil || last.LastUpdatedTimestamp.Before(s.LastUpdatedTimestamp) {
			last = &s
		}
	}
	return last
}

func nameOf(s *kudo.PlanStatus) string {
	if s == nil {
		return ""
	}
	return s.Name
}
