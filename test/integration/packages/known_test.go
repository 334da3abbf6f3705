// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

// What the tests know of single packages, and why. A package that is in none of the tables is treated by the general rules.

// changed is the parameter that is changed, where the general rule finds none or one that may not be changed.
var changed = map[string]string{
	// The words that the general rule finds are in the pod of a Job of the plan, and a Job that exists cannot be changed, in KUDO neither.
	"spark": "enableMetrics=true",
}

// failing are plans that cannot complete as the package is written, in KUDO neither: package/plan and a part of the message.
var failing = map[string]string{}
