// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
