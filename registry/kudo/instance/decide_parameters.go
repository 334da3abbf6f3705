// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
)

// versionBefore is the OperatorVersion that an upgrade leaves, or what its last run kept of it; nil if nothing is left of it.
func (r *REST) versionBefore(ctx context.Context, old *kudo.Instance) *kudo.OperatorVersion {
	if ov, err := r.operatorVersion(ctx, old); err == nil {
		return ov
	}
	ov, err := r.revisions.Latest(ctx, old)
	if err != nil {
		return nil // an upgrade must be possible when nothing is left of the version before
	}
	return ov
}

func definition(ov *kudo.OperatorVersion, name string) *kudo.Parameter {
	if ov == nil {
		return nil
	}
	for i := range ov.Spec.Parameters {
		if ov.Spec.Parameters[i].Name == name {
			return &ov.Spec.Parameters[i]
		}
	}
	return nil
}

func immutable(p *kudo.Parameter) bool { return p != nil && p.Immutable != nil && *p.Immutable }

// dropUndefined takes out of the Instance, at an upgrade, the values that it had and the new version does not define.
func dropUndefined(i, old *kudo.Instance, ov *kudo.OperatorVersion) {
	kept := map[string]string{}
	for name, value := range i.Spec.Parameters {
		if before, had := old.Spec.Parameters[name]; !had || before != value || definition(ov, name) != nil {
			kept[name] = value
		}
	}
	if len(kept) < len(i.Spec.Parameters) {
		i.Spec.Parameters = kept
	}
}

// known are the changed parameters that decide about a plan. Those that an upgrade brings have no plan to run: the upgrade applies them.
func known(before, after *kudo.OperatorVersion, old *kudo.Instance, changed sets.Set[string]) sets.Set[string] {
	out := sets.New[string]()
	for name := range changed {
		_, had := old.Spec.Parameters[name]
		if definition(before, name) != nil || had && definition(after, name) != nil {
			out.Insert(name)
		}
	}
	return out
}

// checkParameters checks all values against the OperatorVersion, and that no immutable one changed. before is the OperatorVersion until
// now, the same one if this is no upgrade, or nil if it is gone.
func checkParameters(i, old *kudo.Instance, ov, before *kudo.OperatorVersion, changed sets.Set[string]) field.ErrorList {
	path := field.NewPath("spec", "parameters")
	errs := validation.ValidateParameterValues(ov.Spec.Parameters, i.Spec.Parameters, path)
	defined := sets.New[string]()
	for d := range ov.Spec.Parameters {
		p := &ov.Spec.Parameters[d]
		defined.Insert(p.Name)
		if immutable(p) {
			errs = append(errs, checkImmutable(i, old, p, definition(before, p.Name), before == ov, changed.Has(p.Name), path.Key(p.Name))...)
		}
	}
	for _, name := range sets.List(changed.Difference(defined)) {
		if _, set := i.Spec.Parameters[name]; set {
			errs = append(errs, field.NotSupported(path.Key(name), name, sets.List(defined)))
		}
	}
	return errs
}

// checkImmutable keeps an immutable parameter as it is and makes sure that one which an upgrade makes immutable has a value.
func checkImmutable(i, old *kudo.Instance, p, before *kudo.Parameter, same, changed bool, path *field.Path) field.ErrorList {
	value, set := i.Spec.Parameters[p.Name]
	was, had := old.Spec.Parameters[p.Name]
	switch {
	case changed && (same || had && (before == nil || immutable(before))):
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("the parameter is immutable; its value is %q and stays so", was))}
	case same || set && value != "" || immutable(before):
		return nil
	case before != nil:
		return field.ErrorList{field.Required(path, "the upgrade makes the parameter immutable, so its value has to be set with the upgrade"+defaultHint(p))}
	}
	return field.ErrorList{field.Required(path, "the upgrade brings the parameter, which is immutable, so its value has to be set with the upgrade"+defaultHint(p))}
}

func defaultHint(p *kudo.Parameter) string {
	if p.Default == nil {
		return ""
	}
	return fmt.Sprintf("; the default is %q", *p.Default)
}
