// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Field labels by which lists and watches can be filtered, besides metadata.name and metadata.namespace.
const (
	// InstanceNameField selects PlanExecutions by their Instance.
	InstanceNameField = "spec.instanceName"
	// PlanNameField selects PlanExecutions by their plan.
	PlanNameField = "spec.planName"
	// StatusField selects PlanExecutions by status.status.
	StatusField = "status.status"
	// OperatorVersionNameField selects Instances and PlanExecutions by their OperatorVersion.
	OperatorVersionNameField = "spec.operatorVersion.name"
	// ActivePlanField selects Instances by the plan that runs now; empty selects those that are idle.
	ActivePlanField = "spec.planExecution.planName"
)

func addFieldLabelConversions(scheme *runtime.Scheme) error {
	for kind, extra := range map[string][]string{
		"Operator":                nil,
		"OperatorVersion":         nil,
		"OperatorVersionRevision": nil,
		"Instance":                {OperatorVersionNameField, ActivePlanField},
		"PlanExecution":           {InstanceNameField, PlanNameField, StatusField, OperatorVersionNameField},
	} {
		allowed := append([]string{"metadata.name", "metadata.namespace"}, extra...)
		convert := func(label, value string) (string, string, error) {
			if slices.Contains(allowed, label) {
				return label, value, nil
			}
			return "", "", fmt.Errorf("field label %q is not supported for %s; supported are %v", label, kind, allowed)
		}
		if err := scheme.AddFieldLabelConversionFunc(SchemeGroupVersion.WithKind(kind), convert); err != nil {
			return err
		}
	}
	return nil
}
