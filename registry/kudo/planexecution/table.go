// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/store"
)

var table = store.Table{
	Columns: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the object"},
		{Name: "Plan", Type: "string", Description: "Plan that is run"},
		{Name: "Instance", Type: "string", Description: "Instance whose plan is run"},
		{Name: "Status", Type: "string", Description: "Status of the run"},
		{Name: "Started", Type: "string", Description: "Time since the run began"},
		{Name: "Duration", Type: "string", Description: "Time that the run has taken"},
		{Name: "Requested By", Type: "string", Description: "User who asked for the run"},
		{Name: "Trigger", Type: "string", Priority: 1, Description: "Why the run was started"},
		{Name: "Step", Type: "string", Priority: 1, Description: "First step that is under way or failed"},
		{Name: "Message", Type: "string", Priority: 1, Description: "What the run waits for, or why it failed"},
	},
	Row: func(obj runtime.Object) []any {
		pe, ok := obj.(*kudo.PlanExecution)
		if !ok {
			return nil
		}
		by := ""
		if pe.Spec.RequestedBy != nil {
			by = pe.Spec.RequestedBy.Username
		}
		step, message := current(pe)
		return []any{
			pe.Name, pe.Spec.PlanName, pe.Spec.InstanceName, string(pe.Status.Status),
			store.Since(pe.Status.StartTime), store.Took(pe.Status.StartTime, pe.Status.CompletionTime), by,
			string(pe.Spec.Trigger), step, message,
		}
	},
}

// current is the first step that has begun and not ended well, with its message; else the message of the run.
func current(pe *kudo.PlanExecution) (step, message string) {
	for _, phase := range pe.Status.Phases {
		for _, s := range phase.Steps {
			switch s.Status {
			case kudo.ExecutionInProgress, kudo.ErrorStatus, kudo.ExecutionFatalError:
				return phase.Name + "." + s.Name, s.Message
			}
		}
	}
	return "", pe.Status.Message
}
