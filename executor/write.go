// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
)

// writeTries bounds how often a write is rebased on a changed spec before the run goes through the queue again.
const writeTries = 5

// droppedError says that the run is not ours to write any more.
type droppedError struct{ why, version string }

func (e *droppedError) Error() string { return e.why }

// write stores the recorded status, advanced by what may begin now, if that differs from what is stored. What begins is
// decided for the very version of the PlanExecution on which the server accepts the write, so that a step does not begin
// after spec.suspend was set.
func (c *Controller) write(ctx context.Context, r *run, pe *v1beta1.PlanExecution, recorded *v1beta1.PlanExecutionStatus) (*v1beta1.PlanExecution, error) {
	ended := false
	for range writeTries {
		next := pe.DeepCopy()
		recorded.DeepCopyInto(&next.Status)
		now := c.Clock.Now()
		engine.Expire(&pe.Spec, &next.Status, now)
		engine.Advance(&next.Status, pe.Spec.Suspend, now)
		if equality.Semantic.DeepEqual(next.Status, pe.Status) {
			return pe, nil
		}
		stored, err := c.update(ctx, next)
		if err == nil {
			c.announce(pe, stored)
			r.latest = stored
			if !engine.Terminal(stored.Status.Status) && forgets(&next.Status, &stored.Status) {
				return nil, errServerTooOld
			}
			r.lastError = ""
			return stored, nil
		}
		if !ended && refused(err) {
			// The server will never take this status, and a run without an end keeps its Instance locked.
			ended, recorded = true, pe.Status.DeepCopy()
			engine.Fail(recorded, engine.ReasonStatusRefused, fmt.Sprintf("the status of the run cannot be stored: %s; make the plan smaller, for example by splitting it, and run it again", fault.Brief(err)), now)
			continue
		}
		if pe, err = c.rebase(ctx, r, pe, err); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the PlanExecution was changed %d times while its status was written", writeTries)
}

// errServerTooOld stops a run before it applies anything: what is on no record would be lost if the executor died.
var errServerTooOld = errors.New("kudo-apiserver did not store which objects the run is about to apply: it is older than kudo-executor. Upgrade kudo-apiserver to the version of kudo-executor; the run goes on by itself then")

// forgets tells whether the server left out of a status what it does not know: the tasks that apply an object.
func forgets(sent, stored *v1beta1.PlanExecutionStatus) bool {
	known := 0
	for _, o := range stored.Reported() {
		known += len(o.Tasks)
	}
	for _, o := range sent.Reported() {
		known -= len(o.Tasks)
	}
	return known < 0
}

// refused tells whether the server will never take a status: it is not valid, or larger than the server or its etcd allows.
// The latter arrives as an internal error.
func refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		strings.Contains(err.Error(), "etcdserver: request is too large") || strings.Contains(err.Error(), "trying to send message larger than max")
}

// update stores a status. It is not interrupted when the run ends: often it is this very write that ends it, and the watch tells of it
// before the server has answered. Whether it was taken has to be known, for the events that tell of it.
func (c *Controller) update(ctx context.Context, pe *v1beta1.PlanExecution) (*v1beta1.PlanExecution, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if c.client.Life != nil { // the end of the executor itself waits for no answer
		defer context.AfterFunc(c.client.Life, cancel)()
	}
	stored, err := c.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).UpdateStatus(ctx, pe, metav1.UpdateOptions{})
	return withoutLog(stored), err
}

// rebase returns the version to try again on after a write failed, or why the run cannot be written.
func (c *Controller) rebase(ctx context.Context, r *run, base *v1beta1.PlanExecution, failed error) (*v1beta1.PlanExecution, error) {
	if apierrors.IsNotFound(failed) {
		return nil, &droppedError{"it was deleted", base.ResourceVersion}
	}
	if !apierrors.IsConflict(failed) {
		return nil, failed
	}
	live, err := c.get(ctx, base)
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		return nil, &droppedError{"it was deleted", base.ResourceVersion}
	case engine.Terminal(live.Status.Status):
		return nil, &droppedError{"it was ended by somebody else", live.ResourceVersion}
	case live.ResourceVersion == base.ResourceVersion:
		if held, err := c.holdsLock(ctx, base); err != nil || held {
			return nil, errors.Join(failed, err) // a race in the server; a run that holds the lock must go on
		}
		return nil, &droppedError{"the server did not take its status, because it does not hold the lock of its Instance: " + failed.Error(), live.ResourceVersion}
	}
	r.latest = live
	if !equality.Semantic.DeepEqual(live.Status, base.Status) {
		// What is stored counts, not what we made of an older state. It may be a write of ours whose answer was lost.
		return nil, fmt.Errorf("the stored status is not the one this pass began with; beginning again with it")
	}
	return live, nil
}

// holdsLock says whether the Instance is locked by the run.
func (c *Controller) holdsLock(ctx context.Context, pe *v1beta1.PlanExecution) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	i, err := c.Kudo.KudoV1beta1().Instances(pe.Namespace).Get(ctx, pe.Spec.InstanceName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && i.Spec.PlanExecution.UID == pe.UID, err
}
