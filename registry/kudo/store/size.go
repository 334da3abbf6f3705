// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// sized answers 413 where the storage refuses an object for its size. The generic store would answer 500, which clients take for a
// fault of the server and try again.
type sized struct{ storage.Interface }

// Create stores a new object.
func (s sized) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	return tooLarge(s.Interface.Create(ctx, key, obj, out, ttl))
}

// GuaranteedUpdate changes an object.
func (s sized) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object) error {
	return tooLarge(s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, cached))
}

// unsent begins the error of the client of etcd when it does not even send a request for its size.
const unsent = "trying to send message larger than max"

// tooLarge translates the refusal of etcd, which comes with or without its own type, and that of its client.
func tooLarge(err error) error {
	if err == nil || (!errors.Is(err, rpctypes.ErrRequestTooLarge) && !errors.Is(err, rpctypes.ErrGRPCRequestTooLarge) &&
		rpctypes.ErrorDesc(err) != rpctypes.ErrorDesc(rpctypes.ErrGRPCRequestTooLarge) && !strings.HasPrefix(rpctypes.ErrorDesc(err), unsent)) {
		return err
	}
	return apierrors.NewRequestEntityTooLargeError("the storage takes objects of up to about 1.5 MiB; " +
		"shorten the object: an OperatorVersion is as large as all its templates together")
}
