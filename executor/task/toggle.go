// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"strconv"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

// toggleTask is an Apply or a Delete, as a parameter says. The parameters of a run do not change, so it is decided once.
type toggleTask struct {
	spec   v1beta1.TaskSpec
	chosen Runner
}

func (t *toggleTask) Run(ctx context.Context, env Env) Report {
	if t.chosen == nil {
		on, err := boolean(env.Variables.Params, t.spec.Parameter)
		if err != nil {
			return stopped(&fault.Final{Reason: fault.ReasonToggle, Err: err})
		}
		if on {
			t.chosen = &applyTask{resources: t.spec.Resources}
		} else {
			t.chosen = &deleteTask{resources: t.spec.Resources}
		}
	}
	return t.chosen.Run(ctx, env)
}

func boolean(params map[string]any, name string) (bool, error) {
	value, ok := params[name]
	if !ok {
		return false, fmt.Errorf("the parameter %q of the Toggle task does not exist; define it in the operator's params.yaml or correct the task", name)
	}
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		if on, err := strconv.ParseBool(v); err == nil {
			return on, nil
		}
		return false, fmt.Errorf("the parameter %q of the Toggle task is %q, which is neither true nor false; set it to one of them", name, v)
	}
	return false, fmt.Errorf("the parameter %q of the Toggle task is a list or a mapping; a Toggle needs a boolean parameter", name)
}
