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

// trim leaves out what the executor does not read: managed fields, and of a run that has ended all but what its deletion
// needs, so that the memory does not grow with the history. It changes a copy: the object may not be ours to change.
func trim(obj any) any {
	switch o := obj.(type) {
	case *v1beta1.PlanExecution:
		out := *o
		out.ManagedFields = nil
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
