// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"cmp"
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/render"
)

// revisionGrace is how long a run waits for the revision it names, counted from its creation: the server writes the two
// one after the other.
const revisionGrace = 10 * time.Second

// instance returns the Instance of a run, not older than the lock of the run: what the run before it did is in its inventory. That it is
// gone, or goes and waits for us only, is a final error.
func (c *Controller) instance(ctx context.Context, pe *v1beta1.PlanExecution) (*v1beta1.Instance, error) {
	i, err := c.instances.Instances(pe.Namespace).Get(pe.Spec.InstanceName)
	if err != nil || !owns(i, pe) || i.Spec.PlanExecution.UID != pe.UID {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		i, err = c.Kudo.KudoV1beta1().Instances(pe.Namespace).Get(ctx, pe.Spec.InstanceName, metav1.GetOptions{}) // the informer may be behind
	}
	if apierrors.IsNotFound(err) || err == nil && (!owns(i, pe) || forsaken(i, pe)) {
		return nil, fault.Finalf(fault.ReasonInstanceGone, "the Instance %s/%s was deleted", pe.Namespace, pe.Spec.InstanceName)
	}
	return i, err
}

// forsaken tells whether an Instance is being deleted without a cleanup, and would be gone but for the finalizer of its inventory.
func forsaken(i *v1beta1.Instance, pe *v1beta1.PlanExecution) bool {
	return i.DeletionTimestamp != nil && pe.Spec.PlanName != v1beta1.CleanupPlanName && slices.Contains(i.Finalizers, v1beta1.InventoryFinalizer)
}

// owns is false for an Instance that was made anew under the name of the one that the run is for.
func owns(i *v1beta1.Instance, pe *v1beta1.PlanExecution) bool {
	for _, o := range pe.OwnerReferences {
		if o.Kind == "Instance" && o.Name == pe.Spec.InstanceName {
			return o.UID == i.UID
		}
	}
	return true
}

// load reads, once per run, what the run was started with.
func (c *Controller) load(ctx context.Context, r *run, pe *v1beta1.PlanExecution) error {
	if r.content != nil {
		return nil
	}
	content, err := c.content(ctx, pe)
	if err != nil {
		return err
	}
	params, err := render.Parameters(content.Parameters, pe.Spec.InstanceParameters, pe.Spec.Parameters)
	if err != nil {
		return fault.Finalf(fault.ReasonParameters, "the parameters of the run cannot be used: %w; correct them and run the plan again", err)
	}
	r.content, r.params = content, params
	return nil
}

func (c *Controller) content(ctx context.Context, pe *v1beta1.PlanExecution) (*v1beta1.OperatorVersionSpec, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if name := pe.Spec.RevisionName; name != "" {
		rev, err := c.Kudo.KudoV1beta1().OperatorVersionRevisions(pe.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && c.Clock.Since(pe.CreationTimestamp.Time) > revisionGrace {
			return nil, fault.Finalf(fault.ReasonVersion, "the OperatorVersionRevision %s/%s, which holds what the run was started with, was deleted; run the plan again", pe.Namespace, name)
		}
		if err != nil {
			return nil, err
		}
		return &rev.Data, nil
	}
	ref := pe.Spec.OperatorVersion
	namespace := cmp.Or(ref.Namespace, pe.Namespace)
	ov, err := c.Kudo.KudoV1beta1().OperatorVersions(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fault.Finalf(fault.ReasonVersion, "the OperatorVersion %s/%s does not exist; install it and run the plan again", namespace, ref.Name)
	}
	if err != nil {
		return nil, err
	}
	return &ov.Spec, nil
}
