// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"kudo.dev/kudo/apis/kudo"
)

// InstanceLabel is the label of a revision with the name of its Instance.
const InstanceLabel = "kudo.dev/instance"

// Ensure keeps the content of the OperatorVersion for runs of the Instance and returns the name of the revision. The Instance
// may not exist yet: then its uid is empty and Adopt completes the work. ctx carries the namespace of the Instance.
func (r *REST) Ensure(ctx context.Context, instance *kudo.Instance, ov *kudo.OperatorVersion, dryRun []string) (string, error) {
	name, err := Name(instance.Name, ov)
	if err != nil {
		return "", err
	}
	existing, err := r.store.Get(ctx, name, &metav1.GetOptions{})
	if err == nil && existing.(*kudo.OperatorVersionRevision).DeletionTimestamp == nil {
		kept := existing.(*kudo.OperatorVersionRevision)
		if err := r.same(kept, ov); err != nil || dryrun.IsDryRun(dryRun) || inUse(kept, instance) {
			return name, err
		}
		if err = r.Adopt(ctx, name, instance); err == nil {
			return name, nil
		}
	}
	// It may have been deleted as unused since it was read: then it is made anew.
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	revision := &kudo.OperatorVersionRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: instance.Namespace,
			Labels:          map[string]string{InstanceLabel: instance.Name},
			OwnerReferences: owner(instance),
		},
		OperatorVersion: kudo.ObjectReference{Kind: "OperatorVersion", Name: ov.Name, Namespace: ov.Namespace, UID: string(ov.UID)},
		Data:            *ov.Spec.DeepCopy(),
	}
	_, err = r.store.Create(ctx, revision, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: dryRun})
	if apierrors.IsAlreadyExists(err) {
		return name, nil
	}
	return name, err
}

// Keep is Ensure for a run that is stored only if the revision is still as Keep returns it; in a dry run it may return none. read says
// where to look for it first.
func (r *REST) Keep(ctx context.Context, instance *kudo.Instance, ov *kudo.OperatorVersion, read *metav1.GetOptions, dryRun []string) (*kudo.OperatorVersionRevision, error) {
	name, err := Name(instance.Name, ov)
	if err != nil {
		return nil, err
	}
	if obj, err := r.store.Get(ctx, name, read); err == nil {
		kept := obj.(*kudo.OperatorVersionRevision)
		if kept.DeletionTimestamp == nil && r.same(kept, ov) == nil && inUse(kept, instance) {
			return kept, nil
		}
	}
	if _, err := r.Ensure(ctx, instance, ov, dryRun); err != nil || dryrun.IsDryRun(dryRun) {
		return nil, err
	}
	obj, err := r.store.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return obj.(*kudo.OperatorVersionRevision), nil
}

// inUse tells whether Adopt would change nothing. What is not marked as unused now is not deleted before long after the request.
func inUse(kept *kudo.OperatorVersionRevision, instance *kudo.Instance) bool {
	_, marked := kept.Annotations[UnusedSinceAnnotation]
	return !marked && (instance.UID == "" || owned(kept, instance))
}

// Adopt makes the Instance the owner of the revision, so that it is collected with the Instance. A revision that an earlier
// Instance of the same name left behind gains a second owner and stays. It is in use from now on: the mark that it is not goes. What
// is so already costs no write.
func (r *REST) Adopt(ctx context.Context, name string, instance *kudo.Instance) error {
	_, _, err := r.store.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		revision := old.(*kudo.OperatorVersionRevision).DeepCopy()
		if !owned(revision, instance) {
			revision.OwnerReferences = append(revision.OwnerReferences, owner(instance)...)
		}
		delete(revision.Annotations, UnusedSinceAnnotation)
		return revision, nil
	}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return err
}

func owned(r *kudo.OperatorVersionRevision, i *kudo.Instance) bool {
	return slices.ContainsFunc(r.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == i.UID })
}

func owner(i *kudo.Instance) []metav1.OwnerReference {
	if i.UID == "" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: "kudo.dev/v1beta1", Kind: "Instance", Name: i.Name, UID: i.UID}}
}

// Latest is the content that the last runs of an Instance used, as the OperatorVersion it was taken from; nil if none is kept. Of several
// the newest counts, and first those of the OperatorVersion that the Instance refers to: after an upgrade and back the newest is
// of another. ctx carries the namespace.
func (r *REST) Latest(ctx context.Context, instance *kudo.Instance) (*kudo.OperatorVersion, error) {
	obj, err := r.store.List(ctx, &metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{InstanceLabel: instance.Name})})
	if err != nil {
		return nil, err
	}
	items := obj.(*kudo.OperatorVersionRevisionList).Items
	items = slices.DeleteFunc(items, func(i kudo.OperatorVersionRevision) bool { return !Of(&i, instance.Name) || !owned(&i, instance) })
	if len(items) == 0 {
		return nil, nil
	}
	newest := slices.MaxFunc(items, func(a, b kudo.OperatorVersionRevision) int {
		switch x, y := refersTo(instance, &a), refersTo(instance, &b); {
		case x && !y:
			return 1
		case y && !x:
			return -1
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	ref := newest.OperatorVersion
	return &kudo.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: ref.Name, Namespace: ref.Namespace, UID: types.UID(ref.UID)}, Spec: newest.Data}, nil
}

// refersTo tells whether the revision is of the OperatorVersion that the Instance names.
func refersTo(i *kudo.Instance, r *kudo.OperatorVersionRevision) bool {
	ref := &i.Spec.OperatorVersion
	return r.OperatorVersion.Name == ref.Name && r.OperatorVersion.Namespace == cmp.Or(ref.Namespace, i.Namespace)
}

// Plan reads a plan of a revision. ctx carries the namespace.
func (r *REST) Plan(ctx context.Context, name, plan string) (*kudo.Plan, error) {
	obj, err := r.store.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	p, ok := obj.(*kudo.OperatorVersionRevision).Data.Plans[plan]
	if !ok {
		return nil, fmt.Errorf("OperatorVersionRevision %q has no plan %q", name, plan)
	}
	return &p, nil
}
