// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/util/dryrun"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/lock"
	"kudo.dev/kudo/registry/kudo/revision"
)

// Labels that the server sets: of a PlanExecution, so that runs can be selected by label as well as by field, and of an Instance.
const (
	OperatorLabel = "kudo.dev/operator"
	InstanceLabel = "kudo.dev/instance"
	PlanLabel     = "kudo.dev/plan"
)

// newRun is a run that the change of an Instance starts. Its revision is not stored yet.
func (r *REST) newRun(ctx context.Context, i *kudo.Instance, ov *kudo.OperatorVersion, plan string, trigger kudo.TriggerReason) (*kudo.PlanExecution, error) {
	run := &kudo.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{
			Name:      names.SimpleNameGenerator.GenerateName(i.Name + "-" + plan + "-"),
			Namespace: i.Namespace,
			UID:       uuid.NewUUID(),
		},
		Spec: kudo.PlanExecutionSpec{InstanceName: i.Name, PlanName: plan},
	}
	Stamp(ctx, run, trigger)
	return run, Snapshot(run, i, ov)
}

// decideRun decides whether a plan can start and takes the lock for it. A run that somebody asked for needs the permission and passes the
// admission of a PlanExecution that is created. A change of parameters, and a client that asks for it, starts the plan that runs anew;
// any other plan has to wait.
func (r *REST) decideRun(ctx context.Context, i *kudo.Instance, ov *kudo.OperatorVersion, plan string, trigger kudo.TriggerReason, restart bool, dryRun []string) (*decision, error) {
	if trigger == kudo.TriggerManual {
		if err := r.runs.Authorize(ctx, i.Name, plan); err != nil {
			return nil, err
		}
	}
	run, err := r.newRun(ctx, i, ov, plan, trigger)
	if err != nil {
		return nil, err
	}
	if trigger == kudo.TriggerManual {
		if err := r.runs.Admit(ctx, run, dryRun); err != nil {
			return nil, err
		}
	}
	d := &decision{run: run, version: ov}
	if lock.Held(i) && i.Spec.PlanExecution.PlanName == plan && (restart || trigger == kudo.TriggerParameterChange) {
		d.takesOver = true
		lock.TakeOver(i, run, Superseded(run), r.clock.Now())
		return d, nil
	}
	return d, lock.Take(i, run, r.clock.Now())
}

// commit does what must be done before the decision is written, as the last check: refusals have left nothing behind by then. It keeps
// the content of the OperatorVersion and the run that is taken over from. That run does not end here: the write may still be refused.
func (r *REST) commit(ctx context.Context, d *decision, i, old *kudo.Instance, dryRun []string) error {
	if d.run == nil {
		return nil
	}
	if _, err := r.revisions.Ensure(ctx, i, d.version, dryRun); err != nil {
		return err
	}
	if d.takesOver && !dryrun.IsDryRun(dryRun) {
		return r.runs.Keep(ctx, old)
	}
	return nil
}

// Stamp writes into a run who asked for it, as the server knows them, and why.
func Stamp(ctx context.Context, run *kudo.PlanExecution, trigger kudo.TriggerReason) {
	run.Spec.Trigger = trigger
	run.Spec.RequestedBy = nil
	if u, ok := genericapirequest.UserFrom(ctx); ok {
		run.Spec.RequestedBy = requestedBy(u)
	}
	if run.Labels == nil {
		run.Labels = map[string]string{}
	}
	run.Labels[InstanceLabel] = run.Spec.InstanceName
	run.Labels[PlanLabel] = run.Spec.PlanName
	delete(run.Annotations, lock.SupersedesAnnotation)
}

func requestedBy(u user.Info) *kudo.RequestedBy {
	by := &kudo.RequestedBy{Username: u.GetName(), UID: u.GetUID(), Groups: slices.Clone(u.GetGroups())}
	for key, values := range u.GetExtra() {
		if by.Extra == nil {
			by.Extra = map[string]kudo.ExtraValue{}
		}
		by.Extra[key] = slices.Clone(values)
	}
	return by
}

// Snapshot writes into a run what it starts with: the name of the revision that keeps the content of the OperatorVersion, the
// parameters of the Instance, and the tree of the plan, all of it pending. The plan must exist; the revision need not yet.
func Snapshot(run *kudo.PlanExecution, i *kudo.Instance, ov *kudo.OperatorVersion) error {
	name, err := revision.Name(i.Name, ov)
	if err != nil {
		return err
	}
	run.Spec.RevisionName = name
	run.Spec.OperatorVersion = kudo.ObjectReference{Kind: "OperatorVersion", Namespace: ov.Namespace, Name: ov.Name, UID: string(ov.UID)}
	run.Spec.InstanceParameters = maps.Clone(i.Spec.Parameters)
	plan := ov.Spec.Plans[run.Spec.PlanName]
	run.Status = lock.PendingStatus(&plan)
	return nil
}

// PlanNames are the names of the plans of an OperatorVersion, sorted.
func PlanNames(ov *kudo.OperatorVersion) []string {
	return slices.Sorted(maps.Keys(ov.Spec.Plans))
}
