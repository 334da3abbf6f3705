// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/lock"
)

// decision is what a change of an Instance leads to.
type decision struct {
	// run is the one that the change starts; nil if it starts none.
	run *kudo.PlanExecution
	// version is what run works with.
	version *kudo.OperatorVersion
	// takesOver says that run takes the lock over from a run of the same plan, which has to end first.
	takesOver bool
}

// decideUpdate compares the wanted Instance with the stored one and decides what the difference starts. It keeps lock and status as
// they are stored; commit writes them when all other checks have passed.
func (r *REST) decideUpdate(ctx context.Context, i, old *kudo.Instance, dryRun []string) (*decision, error) {
	blanked := lock.Held(old) && i.Spec.PlanExecution.PlanName == ""
	asked, restart := askedPlan(i, old)
	i.Spec.PlanExecution = *old.Spec.PlanExecution.DeepCopy()
	i.Status = *old.Status.DeepCopy()
	i.DeletionTimestamp, i.DeletionGracePeriodSeconds = old.DeletionTimestamp, old.DeletionGracePeriodSeconds
	upgrade := versionKey(i) != versionKey(old)
	changed := changedParameters(old.Spec.Parameters, i.Spec.Parameters)
	if blanked {
		return nil, cannotBlank(old)
	}
	if !upgrade && changed.Len() == 0 && asked == "" {
		return &decision{}, nil
	}
	if !validSpec(i, old) {
		return &decision{}, nil // the strategy refuses it with all its errors
	}
	if old.DeletionTimestamp != nil && (upgrade || changed.Len() > 0) {
		return nil, apierrors.NewConflict(kudo.Resource("instances"), i.Name, fmt.Errorf(
			"the Instance is being deleted since %s: its parameters and its OperatorVersion cannot be changed any more",
			old.DeletionTimestamp.UTC().Format(time.RFC3339)))
	}
	if upgrade {
		if err := r.authorizeVersion(ctx, i); err != nil {
			return nil, err
		}
	}
	ov, err := r.operatorVersion(ctx, i)
	if asked == kudo.CleanupPlanName && i.DeletionTimestamp != nil {
		if left, leftErr := r.CleanupVersion(ctx, i); left != nil || leftErr != nil {
			ov, err = left, leftErr
		}
	}
	if err != nil {
		return nil, err
	}
	before := ov
	if upgrade {
		before = r.versionBefore(ctx, old)
		dropUndefined(i, old, ov)
		changed = changedParameters(old.Spec.Parameters, i.Spec.Parameters)
	}
	if errs := checkParameters(i, old, ov, before, changed); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kudo.Kind("Instance"), i.Name, errs)
	}
	plan, trigger, err := choosePlan(i, ov, upgrade, known(before, ov, old, changed), asked)
	if err != nil || plan == "" {
		return &decision{}, err
	}
	if i.DeletionTimestamp == nil {
		holdForCleanup(i, hasCleanup(ov))
	}
	return r.decideRun(ctx, i, ov, plan, trigger, restart, dryRun)
}

// validSpec tells whether the strategy is going to take the spec. The metadata is not complete yet: a client may leave out what the
// server fills in after the decision, and that must not keep the decision from being made.
func validSpec(i, old *kudo.Instance) bool {
	filled := i.DeepCopy()
	filled.ObjectMeta = old.ObjectMeta
	return len(validation.ValidateInstanceUpdate(filled, old)) == 0
}

// askedPlan is the plan that the client asks for by setting spec.planExecution.planName, as the command line of KUDO does. A client
// that sends back what it has read, of this run or of one that has ended since, asks for nothing. One that names the plan that runs
// with another uid asks for it to be started anew.
func askedPlan(i, old *kudo.Instance) (plan string, restart bool) {
	wanted, held := &i.Spec.PlanExecution, &old.Spec.PlanExecution
	if wanted.UID != "" && wanted.UID == old.Status.PlanStatus[wanted.PlanName].UID {
		return "", false
	}
	if lock.Held(old) && wanted.PlanName == held.PlanName {
		if wanted.UID == "" || wanted.UID == held.UID {
			return "", false
		}
		return wanted.PlanName, true
	}
	return wanted.PlanName, false
}

// cannotBlank refuses what was the way of KUDO's clients to give a run up.
func cannotBlank(i *kudo.Instance) error {
	holder, name := lock.Holder(i)
	return apierrors.NewConflict(kudo.Resource("instances"), i.Name, fmt.Errorf(
		"spec.planExecution cannot be emptied: %s. Leave the field as it is, by a patch that does not mention it or by sending back what was read. "+
			"To give the run up, cancel it: kubectl kudo plan cancel -n %s --instance %s (POST …/planexecutions/%s/cancel)", holder, i.Namespace, i.Name, name))
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

// choosePlan is the plan that a change asks for, or "" for none. changed are the parameters that count.
func choosePlan(i *kudo.Instance, ov *kudo.OperatorVersion, upgrade bool, changed sets.Set[string], asked string) (string, kudo.TriggerReason, error) {
	path := field.NewPath("spec", "planExecution", "planName")
	if asked != "" && (upgrade || changed.Len() > 0) {
		return "", "", invalid(i, field.Forbidden(path, "one request cannot both start a plan and change the Instance; send two"))
	}
	if asked != "" {
		if _, ok := ov.Spec.Plans[asked]; !ok {
			return "", "", invalid(i, field.NotSupported(path, asked, PlanNames(ov)))
		}
		if asked == kudo.CleanupPlanName && i.DeletionTimestamp == nil {
			return "", "", invalid(i, CleanupByHand(path))
		}
		return asked, kudo.TriggerManual, nil
	}
	plan, err := parameterPlan(i, ov, changed)
	if err != nil || !upgrade {
		return plan, kudo.TriggerParameterChange, err
	}
	if plan != "" && plan != kudo.DeployPlanName {
		return "", "", invalid(i, field.Forbidden(field.NewPath("spec", "parameters"), fmt.Sprintf(
			"an upgrade cannot be combined with a change of %v, which runs plan %q; upgrade first and change the parameters when that has ended", sets.List(changed), plan)))
	}
	plan, err = firstPlan(i, ov, field.NewPath("spec", "operatorVersion"), kudo.UpgradePlanName, kudo.UpdatePlanName, kudo.DeployPlanName)
	return plan, kudo.TriggerUpgrade, err
}

// parameterPlan is the plan that the changed parameters ask for, or "" if none of them is defined.
func parameterPlan(i *kudo.Instance, ov *kudo.OperatorVersion, changed sets.Set[string]) (string, error) {
	triggers, defined := sets.New[string](), false
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
		return "", nil // only values that no parameter defines were removed
	case triggers.Len() > 1:
		return "", invalid(i, field.Forbidden(path, fmt.Sprintf("the changed parameters start different plans %v; change them in separate requests", sets.List(triggers))))
	case triggers.Len() == 1:
		return firstPlan(i, ov, path, triggers.UnsortedList()[0])
	}
	return firstPlan(i, ov, path, kudo.UpdatePlanName, kudo.DeployPlanName)
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
