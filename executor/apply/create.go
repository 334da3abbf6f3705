// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Create creates an object as it is. If one of its name exists, the error is AlreadyExists and nothing changes.
func (c *Client) Create(ctx context.Context, ref Ref, obj *unstructured.Unstructured) error {
	ctx, cancel, err := c.change(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	_, err = c.resource(ref).Create(ctx, obj, metav1.CreateOptions{FieldManager: FieldManager})
	return c.served(ref, err)
}

// DeleteExactly deletes the object with that uid, and reports whether it is gone already; one that was made anew under its name counts
// as gone.
func (c *Client) DeleteExactly(ctx context.Context, ref Ref, uid types.UID) (gone bool, err error) {
	ctx, cancel, err := c.change(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	err = c.served(ref, c.resource(ref).Delete(ctx, ref.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return true, nil
	}
	return false, err
}
