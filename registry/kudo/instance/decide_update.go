// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/lock"
)

// decideUpdate compares the wanted Instance with the stored one and starts the plan that the difference asks for. It returns
// whether one was started.
func (r *REST) decideUpdate(ctx context.Context, i, old *kudo.Instance, dryRun []string) (bool, error) {
	asked := askedPlan(i, old)
	i.Spec.PlanExecution = *old.Spec.PlanExecution.DeepCopy()
	i.Status = *old.Status.DeepCopy()
	upgrade := versionKey(i) != versionKey(old)
	changed := changedParameters(old.Spec.Parameters, i.Spec.Parameters)
	if i.DeletionTimestamp != nil || (!upgrade && changed.Len() == 0 && asked == "") {
		return false, nil
	}
	if len(validation.ValidateInstanceUpdate(i, old)) > 0 {
		return false, nil // the strategy refuses it with all its errors
	}
	if upgrade {
		if err := r.authorizeVersion(ctx, i); err != nil {
			return false, err
		}
	}
	ov, err := r.operatorVersion(ctx, i)
	if err != nil {
		return false, err
	}
	if errs := checkParameters(i, old, ov, upgrade, changed); len(errs) > 0 {
		return false, apierrors.NewInvalid(kudo.Kind("Instance"), i.Name, errs)
	}
	plan, trigger, err := choosePlan(i, ov, upgrade, changed, asked)
	if err != nil || plan == "" {
		return false, err
	}
	if trigger == kudo.TriggerManual {
		if err := r.runs.Authorize(ctx, i.Name, plan); err != nil {
			return false, err
		}
	}
	return true, r.start(ctx, i, ov, plan, trigger, dryRun)
}

// askedPlan is the plan that the client asks for by setting spec.planExecution.planName, as the command line of KUDO does. A client
// that sends back what it has read, of this run or of one that has ended since, asks for nothing.
func askedPlan(i, old *kudo.Instance) string {
	wanted := &i.Spec.PlanExecution
	if lock.Held(old) && wanted.PlanName == old.Spec.PlanExecution.PlanName {
		return ""
	}
	if wanted.UID != "" && wanted.UID == old.Status.PlanStatus[wanted.PlanName].UID {
		return ""
	}
	return wanted.PlanName
}

// versionKey is what of the reference is read; other fields of it make no upgrade.
func versionKey(i *kudo.Instance) string {
	namespace := i.Spec.OperatorVersion.Namespace
	if namespace == "" {
		namespace = i.Namespace
	}
	return namespace + "/" + i.Spec.OperatorVersion.Name
}

func changedParameters(before, after map[string]string) sets.Set[string] {
	changed := sets.New[string]()
	for name := range maps.Keys(after) {
		if value, ok := before[name]; !ok || value != after[name] {
			changed.Insert(name)
		}
	}
	for name := range maps.Keys(before) {
		if _, ok := after[name]; !ok {
			changed.Insert(name)
		}
	}
	return changed
}

// checkParameters checks all values against the OperatorVersion, and that no immutable one changed.
func checkParameters(i, old *kudo.Instance, ov *kudo.OperatorVersion, upgrade bool, changed sets.Set[string]) field.ErrorList {
	path := field.NewPath("spec", "parameters")
	errs := validation.ValidateParameterValues(ov.Spec.Parameters, i.Spec.Parameters, path)
	defined := sets.New[string]()
	for _, p := range ov.Spec.Parameters {
		defined.Insert(p.Name)
		before, had := old.Spec.Parameters[p.Name]
		if p.Immutable != nil && *p.Immutable && changed.Has(p.Name) && (had || !upgrade) {
			errs = append(errs, field.Forbidden(path.Key(p.Name), fmt.Sprintf("the parameter is immutable; its value is %q", before)))
		}
	}
	for _, name := range sets.List(changed.Difference(defined)) {
		if _, set := i.Spec.Parameters[name]; set {
			errs = append(errs, field.NotSupported(path.Key(name), name, sets.List(defined)))
		}
	}
	return errs
}

// choosePlan is the plan that a change asks for, or "" for none.
func choosePlan(i *kudo.Instance, ov *kudo.OperatorVersion, upgrade bool, changed sets.Set[string], asked string) (string, kudo.TriggerReason, error) {
	if asked != "" && (upgrade || changed.Len() > 0) {
		return "", "", invalid(i, field.Forbidden(field.NewPath("spec", "planExecution", "planName"),
			"one request cannot both start a plan and change the Instance; send two"))
	}
	switch {
	case asked != "":
		if _, ok := ov.Spec.Plans[asked]; !ok {
			return "", "", invalid(i, field.NotSupported(field.NewPath("spec", "planExecution", "planName"), asked, PlanNames(ov)))
		}
		return asked, kudo.TriggerManual, nil
	case upgrade:
		plan, err := firstPlan(i, ov, field.NewPath("spec", "operatorVersion"), kudo.UpgradePlanName, kudo.UpdatePlanName, kudo.DeployPlanName)
		return plan, kudo.TriggerUpgrade, err
	}
	triggers := sets.New[string]()
	defined := false
	for _, p := range ov.Spec.Parameters {
		if !changed.Has(p.Name) {
			continue
		}
		defined = true
		if p.Trigger != "" {
			triggers.Insert(p.Trigger)
		}
	}
	path := field.NewPath("spec", "parameters")
	switch {
	case !defined:
		return "", "", nil // only values that no parameter defines were removed
	case triggers.Len() > 1:
		return "", "", invalid(i, field.Forbidden(path, fmt.Sprintf("the changed parameters start different plans %v; change them in separate requests", sets.List(triggers))))
	case triggers.Len() == 1:
		plan, err := firstPlan(i, ov, path, triggers.UnsortedList()[0])
		return plan, kudo.TriggerParameterChange, err
	}
	plan, err := firstPlan(i, ov, path, kudo.UpdatePlanName, kudo.DeployPlanName)
	return plan, kudo.TriggerParameterChange, err
}

// firstPlan is the first of the names that the OperatorVersion defines.
func firstPlan(i *kudo.Instance, ov *kudo.OperatorVersion, path *field.Path, names ...string) (string, error) {
	for _, name := range names {
		if _, ok := ov.Spec.Plans[name]; ok {
			return name, nil
		}
	}
	return "", invalid(i, field.Forbidden(path, fmt.Sprintf("this change runs the first of the plans %v that exists, and OperatorVersion %q defines none of them; it defines %v", names, ov.Name, PlanNames(ov))))
}
