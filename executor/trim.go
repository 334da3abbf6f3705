// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"fmt"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
)

func indexByInstance(obj any) ([]string, error) {
	pe, ok := obj.(*v1beta1.PlanExecution)
	if !ok {
		return nil, fmt.Errorf("a PlanExecution was expected, got %T", obj)
	}
	return []string{pe.Namespace + "/" + pe.Spec.InstanceName}, nil
}

// trim leaves out what the executor does not read: managed fields, the log, which the server writes, and of a run that has ended all but what its deletion
// needs, so that the memory does not grow with the history. It changes a copy: the object may not be ours to change.
func trim(obj any) any {
	switch o := obj.(type) {
	case *v1beta1.PlanExecution:
		out := *o
		out.ManagedFields, out.Status.Log = nil, nil
		if engine.Terminal(out.Status.Status) {
			out.Spec.Parameters, out.Spec.InstanceParameters, out.Status.Phases = nil, nil, nil
		}
		return &out
	case *v1beta1.Instance:
		out := *o
		out.ManagedFields = nil
		return &out
	}
	return obj
}

// withoutLog drops the log from an answer of the server. The executor never has it, so that two states differ only in what it writes;
// the server keeps the log whatever a write says.
func withoutLog(pe *v1beta1.PlanExecution) *v1beta1.PlanExecution {
	if pe != nil {
		pe.Status.Log = nil
	}
	return pe
}
