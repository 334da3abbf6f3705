// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import "k8s.io/apimachinery/pkg/runtime"

func addDefaultingFuncs(scheme *runtime.Scheme) error { return RegisterDefaults(scheme) }

// SetDefaults_OperatorVersionSpec makes serial the strategy of plans and phases that name none.
func SetDefaults_OperatorVersionSpec(spec *OperatorVersionSpec) {
	for name, plan := range spec.Plans {
		if plan.Strategy == "" {
			plan.Strategy = Serial
		}
		for i := range plan.Phases {
			if plan.Phases[i].Strategy == "" {
				plan.Phases[i].Strategy = Serial
			}
		}
		spec.Plans[name] = plan
	}
}
