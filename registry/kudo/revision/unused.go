// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package revision

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"

	"kudo.dev/kudo/apis/kudo"
)

// UnusedSinceAnnotation says when the server saw that no run referred to the revision, as RFC 3339. Ensure takes it away when a
// request is going to use the revision again; see package history for what that protects.
const UnusedSinceAnnotation = "kudo.dev/unused-since"

// Of tells whether the revision is one of the Instance. The label alone does not tell: clients may change it.
func Of(r *kudo.OperatorVersionRevision, instance string) bool {
	sum, ok := strings.CutPrefix(r.Name, instance+"-")
	return ok && len(sum) == 2*sumBytes && r.Labels[InstanceLabel] == instance
}

// UnusedSince is the time in the annotation; false if there is none, or none that can be read.
func UnusedSince(r *kudo.OperatorVersionRevision) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, r.Annotations[UnusedSinceAnnotation])
	return at, err == nil
}

// MarkUnused writes the annotation, unless the revision has one that can be read. The uid is a precondition: a failure is a conflict
// or not found. ctx carries the namespace.
func (r *REST) MarkUnused(ctx context.Context, name string, uid types.UID, now time.Time) error {
	identity := &kudo.OperatorVersionRevision{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	info := rest.DefaultUpdatedObjectInfo(identity, func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		revision := old.(*kudo.OperatorVersionRevision).DeepCopy()
		if _, marked := UnusedSince(revision); !marked {
			metav1.SetMetaDataAnnotation(&revision.ObjectMeta, UnusedSinceAnnotation, now.UTC().Format(time.RFC3339))
		}
		return revision, nil
	})
	_, _, err := r.store.Update(ctx, name, info, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	return err
}
