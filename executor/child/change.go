// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package child

import (
	"cmp"
	"maps"
	"slices"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// Change is a request that brings a child nearer to its target.
type Change struct {
	// Version and Parameters are what the request sets.
	Version    v1beta1.ObjectReference
	Parameters map[string]string
	// Last says that the child is as wanted after it.
	Last bool
}

// Whole is the request for all of the target at once.
func (t *Target) Whole() Change {
	return Change{Version: t.Version, Parameters: t.Parameters, Last: true}
}

// First is the first of several requests. One request starts one plan, so parameters whose changes start different plans go one after
// another; the server would refuse them together, or would store some without bringing them about. An upgrade goes before all
// parameters that the child has already; old are those that its present OperatorVersion defines. The second value is false if the
// target needs no more than one request.
func (t *Target) First(child *v1beta1.Instance, old []v1beta1.Parameter) (Change, bool) {
	changed := t.changed(child)
	now := map[string]bool{}
	if t.Upgrades(child) {
		known := map[string]bool{}
		for _, p := range old {
			known[p.Name] = true
		}
		for name := range changed {
			now[name] = !known[name] // a new version may need values for what is new in it
		}
	} else {
		first, plans := "", map[string]string{}
		for _, p := range t.Content.Parameters {
			plans[p.Name] = t.plan(p.Trigger)
			if changed[p.Name] {
				first = cmp.Or(first, plans[p.Name])
			}
		}
		for name := range changed {
			plan, defined := plans[name]
			now[name] = !defined || plan == first
		}
	}
	out := Change{Version: t.Version, Parameters: map[string]string{}, Last: true}
	for _, name := range slices.Sorted(maps.Keys(t.concerned(child))) {
		value, ok := t.Parameters[name]
		if changed[name] && !now[name] {
			value, ok = child.Spec.Parameters[name]
			out.Last = false
		}
		if ok {
			out.Parameters[name] = value
		}
	}
	return out, !out.Last
}

// plan is what a change of a parameter with a trigger starts.
func (t *Target) plan(trigger string) string {
	if _, ok := t.Content.Plans[v1beta1.UpdatePlanName]; ok && trigger == "" {
		return v1beta1.UpdatePlanName
	}
	return cmp.Or(trigger, v1beta1.DeployPlanName)
}

// Upgrades tells whether the child has to change to another OperatorVersion.
func (t *Target) Upgrades(child *v1beta1.Instance) bool {
	now := child.Spec.OperatorVersion
	return now.Name != t.Version.Name || cmp.Or(now.Namespace, child.Namespace) != cmp.Or(t.Version.Namespace, child.Namespace)
}

// concerned are the parameters that the parent sets or set before. Others are for whoever else looks after the child.
func (t *Target) concerned(child *v1beta1.Instance) map[string]bool {
	out := applied(child)
	for name := range t.Parameters {
		out[name] = true
	}
	return out
}

func (t *Target) changed(child *v1beta1.Instance) map[string]bool {
	out := map[string]bool{}
	for name := range t.concerned(child) {
		wanted, set := t.Parameters[name]
		value, has := child.Spec.Parameters[name]
		if set != has || wanted != value {
			out[name] = true
		}
	}
	return out
}
