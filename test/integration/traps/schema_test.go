// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/generated/applyconfiguration"
	"kudo.dev/kudo/generated/clientset/versioned/scheme"
)

// TestListsMergeByKey: the schema that fake clients and Extract functions use knows the keys of lists. Where code generation is not
// given the OpenAPI of the types, every list is replaced as a whole, silently.
func TestListsMergeByKey(t *testing.T) {
	run := func(condition string, status v1beta1.ExecutionStatus) *v1beta1.PlanExecution {
		return &v1beta1.PlanExecution{
			TypeMeta: metav1.TypeMeta{APIVersion: "kudo.dev/v1beta1", Kind: "PlanExecution"},
			Status: v1beta1.PlanExecutionStatus{
				Conditions: []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue, Reason: "Any", LastTransitionTime: metav1.NewTime(time.Unix(0, 0))}},
				Phases:     []v1beta1.PhaseExecutionStatus{{Name: "main", Steps: []v1beta1.StepExecutionStatus{{Name: condition, Status: status}}}},
			},
		}
	}
	converter := applyconfiguration.NewTypeConverter(scheme.Scheme)
	one, err := converter.ObjectToTyped(run("Complete", v1beta1.ExecutionComplete))
	if err != nil {
		t.Fatal(err)
	}
	two, err := converter.ObjectToTyped(run("Suspended", v1beta1.ExecutionPending))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := one.Merge(two)
	if err != nil {
		t.Fatal(err)
	}
	object, err := converter.TypedToObject(merged)
	if err != nil {
		t.Fatal(err)
	}
	var got v1beta1.PlanExecution
	if err := convert(object, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Status.Conditions) != 2 || len(got.Status.Phases) != 1 || len(got.Status.Phases[0].Steps) != 2 {
		t.Errorf("merged: %+v", got.Status)
	}
}

// convert goes by way of JSON: the merged object has no Go type.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}
