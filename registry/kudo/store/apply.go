// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Creatable is a storage whose Create does more than the generic one.
type Creatable interface {
	rest.Getter
	rest.Creater
}

// CreateByApply creates the object of an update that may create, which is server-side apply, by the storage's own Create. It returns
// nil without error if the object exists: then it is to be updated.
func CreateByApply(ctx context.Context, storage Creatable, name string, info rest.UpdatedObjectInfo, validate rest.ValidateObjectFunc, options *metav1.UpdateOptions) (runtime.Object, error) {
	if _, err := storage.Get(ctx, name, &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return nil, nil // the update that follows meets any other error again
	}
	obj, err := info.UpdatedObject(ctx, storage.New())
	if err != nil {
		return nil, err
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	rest.WipeObjectMetaSystemFields(object)
	out, err := storage.Create(ctx, obj, validate, &metav1.CreateOptions{DryRun: options.DryRun, FieldManager: options.FieldManager, FieldValidation: options.FieldValidation})
	if apierrors.IsAlreadyExists(err) {
		return nil, nil // somebody was faster
	}
	return out, err
}
