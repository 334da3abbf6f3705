// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
)

// Get lists the plans of an Instance, or has the one that the path names: those that its OperatorVersion defines and those that ran
// before an upgrade, each with its last run, the run in its way, and whether the user of ctx may start it. An OperatorVersion that
// does not exist any more defines nothing.
func (r *PlansREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	path := ""
	if o, ok := options.(*kudo.InstancePlansOptions); ok {
		path = o.Path
	}
	wanted, ok := planOfPath(path)
	if !ok || doubledSlash(ctx) {
		return nil, noPlan(path, "below the plans of an Instance there are PLAN and PLAN/status")
	}
	obj, err := r.instances.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	i := obj.(*kudo.Instance)
	ov, err := r.instances.operatorVersion(ctx, i)
	if apierrors.IsInvalid(err) { // it is gone
		ov, err = &kudo.OperatorVersion{}, nil
	}
	if err != nil {
		return nil, err
	}
	plans := plansOf(i, ov)
	if wanted != "" {
		var names []string
		for _, p := range plans {
			names = append(names, p.Name)
		}
		n := slices.Index(names, wanted)
		if n < 0 {
			return nil, noPlan(wanted, fmt.Sprintf("Instance %q has the plans %q", i.Name, names))
		}
		plans = plans[n : n+1]
	}
	if err := r.addLastRunNames(ctx, i, plans); err != nil {
		return nil, err
	}
	r.addPermissions(ctx, i, plans)
	return &kudo.InstancePlans{
		ObjectMeta: metav1.ObjectMeta{
			Name: i.Name, Namespace: i.Namespace, UID: i.UID, ResourceVersion: i.ResourceVersion, CreationTimestamp: i.CreationTimestamp},
		Plans: plans,
	}, nil
}

// planOfPath reads the path below the subresource: nothing for all plans, PLAN or PLAN/status. It forgives a slash at the end, as the
// router does elsewhere.
func planOfPath(path string) (plan string, ok bool) {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	if path == "" {
		return "", true
	}
	plan, below, deeper := strings.Cut(path, "/")
	return plan, plan != "" && (!deeper || below == "status")
}

// doubledSlash tells of an empty name in the path of the request, which the router may have dropped.
func doubledSlash(ctx context.Context) bool {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	return ok && strings.Contains(info.Path, "//")
}

func noPlan(name, hint string) error {
	err := apierrors.NewNotFound(kudo.Resource("instances/plans"), name)
	err.ErrStatus.Message += "; " + hint
	return err
}

// plansOf are the plans that the OperatorVersion defines and those that have run, by name.
func plansOf(i *kudo.Instance, ov *kudo.OperatorVersion) []kudo.InstancePlan {
	names := sets.KeySet(ov.Spec.Plans)
	for name, last := range i.Status.PlanStatus {
		if hasRun(last) {
			names.Insert(name)
		}
	}
	out := make([]kudo.InstancePlan, 0, len(names))
	for _, name := range sets.List(names) {
		definition, defined := ov.Spec.Plans[name]
		p := kudo.InstancePlan{
			Name: name, Strategy: definition.Strategy, Defined: defined,
			Active: i.Spec.PlanExecution.PlanName == name, LockedBy: lockedBy(i),
		}
		if last := i.Status.PlanStatus[name]; hasRun(last) {
			p.LastRun = &last
		}
		out = append(out, p)
	}
	return out
}

// hasRun tells a run from the entry that KUDO 0.19 wrote for a plan that never ran.
func hasRun(s kudo.PlanStatus) bool {
	return s.Status != "" && s.Status != kudo.ExecutionNeverRun
}

// lockedBy is the run that holds the Instance, if one does.
func lockedBy(i *kudo.Instance) *kudo.PlanLock {
	if !lock.Held(i) {
		return nil
	}
	held := &i.Spec.PlanExecution
	out := &kudo.PlanLock{UID: held.UID, PlanName: held.PlanName, Status: held.Status}
	if t := held.Template; t != nil {
		out.Name, out.Trigger = t.Name, t.Spec.Trigger
		if t.Spec.RequestedBy != nil {
			out.RequestedBy = t.Spec.RequestedBy.Username
		}
	}
	return out
}

// addLastRunNames fills in the PlanExecutions of the last runs, as far as they are kept. The one that holds the lock is known even if
// it is only about to be stored.
func (r *PlansREST) addLastRunNames(ctx context.Context, i *kudo.Instance, plans []kudo.InstancePlan) error {
	names := map[types.UID]string{}
	if held := &i.Spec.PlanExecution; held.Template != nil {
		names[held.UID] = held.Template.Name
	}
	missing := sets.New[types.UID]()
	for _, p := range plans {
		if p.LastRun != nil && p.LastRun.UID != "" && names[p.LastRun.UID] == "" {
			missing.Insert(p.LastRun.UID)
		}
	}
	if len(missing) > 0 {
		kept, err := r.instances.runs.Names(ctx, i.Name, missing)
		if err != nil {
			return err
		}
		maps.Copy(names, kept)
	}
	for n := range plans {
		if last := plans[n].LastRun; last != nil {
			plans[n].LastRunName = names[last.UID]
		}
	}
	return nil
}

// addPermissions fills in what the user of ctx may start.
func (r *PlansREST) addPermissions(ctx context.Context, i *kudo.Instance, plans []kudo.InstancePlan) {
	var names []string
	for _, p := range plans {
		names = append(names, p.Name)
	}
	for n, refusal := range r.instances.runs.Refusals(ctx, i.Name, names) {
		plans[n].MayTrigger, plans[n].MayTriggerMessage = refusal == "", refusal
	}
}
