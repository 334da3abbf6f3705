// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package engine

import (
	"fmt"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// check says why a plan cannot be run; an empty reason means that it can.
func check(version *v1beta1.OperatorVersionSpec, planName string, plan v1beta1.Plan) (reason, message string) {
	defined := map[string]bool{}
	for _, t := range version.Tasks {
		defined[t.Name] = true
	}
	phases := map[string]bool{}
	for _, p := range plan.Phases {
		if phases[p.Name] {
			return ReasonInvalidPlan, fmt.Sprintf("plan %q has two phases named %q; rename one of them in the operator package", planName, p.Name)
		}
		phases[p.Name] = true
		steps := map[string]bool{}
		for _, s := range p.Steps {
			if steps[s.Name] {
				return ReasonInvalidPlan, fmt.Sprintf("phase %s.%s has two steps named %q; rename one of them in the operator package", planName, p.Name, s.Name)
			}
			steps[s.Name] = true
			for _, t := range s.Tasks {
				if !defined[t] {
					return ReasonUnknownTask, fmt.Sprintf("step %s.%s.%s names the task %q, which the OperatorVersion does not define; it defines %s",
						planName, p.Name, s.Name, t, names(defined))
				}
			}
		}
	}
	return "", ""
}
