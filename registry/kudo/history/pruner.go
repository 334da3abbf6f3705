// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package history

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/registry/kudo/revision"
)

// batch is how many runs are deleted before other Instances get their turn. A history from before there were limits may be long.
const batch = 1000

// Runs is the storage of PlanExecutions.
type Runs interface {
	rest.Lister
	rest.GracefulDeleter
}

// Revisions is the storage of OperatorVersionRevisions.
type Revisions interface {
	rest.Lister
	rest.GracefulDeleter
	// MarkUnused notes in a revision when it was first seen to be unused.
	MarkUnused(ctx context.Context, name string, uid types.UID, now time.Time) error
}

// Pruner deletes what is surplus of the history of Instances.
type Pruner struct {
	// Instances are read only.
	Instances rest.Getter
	// Runs that are surplus are deleted.
	Runs Runs
	// Revisions that are unused are marked, and deleted later.
	Revisions Revisions
	// Clock tells how long a revision has been unused.
	Clock clock.PassiveClock
}

// Prune deletes the surplus runs of one Instance and what revisions that makes unused. It returns when it has to be called again, 0 for
// not before something changes. It may be stopped anywhere; the next call goes on.
func (p *Pruner) Prune(ctx context.Context, namespace, name string) (time.Duration, error) {
	ctx = genericapirequest.WithNamespace(ctx, namespace)
	runs, err := p.runs(ctx, name)
	if err != nil {
		return 0, err
	}
	i, err := p.instance(ctx, name)
	if err != nil || i == nil {
		return 0, err
	}
	surplus := Surplus(i, runs)
	for n, run := range surplus {
		if n == batch {
			return time.Nanosecond, nil
		}
		err := p.delete(ctx, p.Runs, run.Name, metav1.Preconditions{UID: &run.UID})
		if err != nil {
			return 0, err
		}
		klog.FromContext(ctx).V(2).Info("Deleted the run: the Instance keeps fewer", "planExecution", klog.KObj(run), "instance", klog.KRef(namespace, name))
	}
	return p.revisions(ctx, i, runs, len(surplus) > 0)
}

// revisions deletes the revisions that are unused. runs may be out of date, which the decision to delete is not based on.
func (p *Pruner) revisions(ctx context.Context, i *kudo.Instance, runs []kudo.PlanExecution, deleted bool) (time.Duration, error) {
	obj, err := p.Revisions.List(ctx, &metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{revision.InstanceLabel: i.Name})})
	if err != nil {
		return 0, err
	}
	all := obj.(*kudo.OperatorVersionRevisionList).Items
	now := p.Clock.Now() // before the Instance is read, on which Unused relies
	if mark, drop, next := Unused(i, runs, all, now); !deleted && len(mark)+len(drop) == 0 {
		return next, nil // the usual case: every revision has its run
	}
	// In this order; see Unused.
	if i, err = p.instance(ctx, i.Name); err != nil || i == nil {
		return 0, err
	}
	if runs, err = p.runs(ctx, i.Name); err != nil {
		return 0, err
	}
	mark, drop, next := Unused(i, runs, all, now)
	for _, r := range drop {
		err := p.delete(ctx, p.Revisions, r.Name, metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion})
		if err != nil {
			return 0, err
		}
		klog.FromContext(ctx).V(2).Info("Deleted the revision: no run refers to it", "operatorVersionRevision", klog.KObj(r), "instance", klog.KObj(i))
	}
	for _, r := range mark {
		if err := p.mark(ctx, r); err != nil {
			return 0, err
		}
	}
	return next, nil
}

// markTimeout bounds how much later than it says a mark is written.
const markTimeout = time.Minute

func (p *Pruner) mark(ctx context.Context, r *kudo.OperatorVersionRevision) error {
	ctx, cancel := context.WithTimeout(ctx, markTimeout)
	defer cancel()
	if err := p.Revisions.MarkUnused(ctx, r.Name, r.UID, p.Clock.Now()); !harmless(err) {
		return err
	}
	return nil
}

// instance reads the Instance from etcd; nil if it does not exist.
func (p *Pruner) instance(ctx context.Context, name string) (*kudo.Instance, error) {
	obj, err := p.Instances.Get(ctx, name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.(*kudo.Instance), nil
}

// runs lists the runs of an Instance: a consistent read, which the cache answers by its index.
func (p *Pruner) runs(ctx context.Context, instance string) ([]kudo.PlanExecution, error) {
	obj, err := p.Runs.List(ctx, &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector(v1beta1.InstanceNameField, instance)})
	if err != nil {
		return nil, err
	}
	return obj.(*kudo.PlanExecutionList).Items, nil
}

// delete removes what was looked at. That it is gone already, is another one by now, or has changed, is no failure.
func (p *Pruner) delete(ctx context.Context, from rest.GracefulDeleter, name string, expected metav1.Preconditions) error {
	_, _, err := from.Delete(ctx, name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{
		Preconditions: &expected, PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
	if harmless(err) {
		return nil
	}
	return err
}

func harmless(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }
