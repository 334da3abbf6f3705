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

// First is the first of several requests, for the case that the server does not take them in one: it starts one plan per request. An
// upgrade goes first, then the parameters by the plan that they start. old are the parameters that the child's present OperatorVersion
// defines. The second value is false if the target needs no more than one request.
func (t *Target) First(child *v1beta1.Instance, old []v1beta1.Parameter) (Change, bool) {
	changed := t.changed(child)
	now := map[string]bool{}
	if upgrade := t.upgrades(child); upgrade {
		known := map[string]bool{}
		for _, p := range old {
			known[p.Name] = true
		}
		for name := range changed {
			now[name] = !known[name] // a new version may need values for what is new in it
		}
	} else {
		plan, found := "", false
		triggers := map[string]string{}
		for _, p := range t.Definitions {
			triggers[p.Name] = p.Trigger
			if changed[p.Name] && !found {
				plan, found = p.Trigger, true
			}
		}
		for name := range changed {
			trigger, defined := triggers[name]
			now[name] = !defined || trigger == plan
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

// Reached tells whether the child's spec is as wanted.
func (t *Target) Reached(child *v1beta1.Instance) bool {
	return !t.upgrades(child) && len(t.changed(child)) == 0
}

func (t *Target) upgrades(child *v1beta1.Instance) bool {
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
