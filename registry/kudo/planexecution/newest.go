// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo"
)

// source is where the streams of a run read it.
type source interface {
	List(context.Context, *metainternalversion.ListOptions) (runtime.Object, error)
	Watch(context.Context, *metainternalversion.ListOptions) (watch.Interface, error)
}

// newest reads a run, and from where it can be watched on. That is the version of a list: the version of an object that has not
// changed for long is too old to watch from.
func newest(ctx context.Context, s source, name string) (*kudo.PlanExecution, string, error) {
	obj, err := s.List(ctx, &metainternalversion.ListOptions{FieldSelector: named(name)})
	if err != nil {
		return nil, "", err
	}
	list := obj.(*kudo.PlanExecutionList)
	if len(list.Items) == 0 {
		return nil, "", apierrors.NewNotFound(kudo.Resource("planexecutions"), name)
	}
	return &list.Items[0], list.ResourceVersion, nil
}

// named selects one run.
func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
