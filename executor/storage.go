// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"

// storageClasses reads StorageClasses, which only a claim that is not bound makes necessary.
type storageClasses struct{ client dynamic.Interface }

func (s storageClasses) StorageClass(name string) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	classes := s.client.Resource(schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"})
	if name != "" {
		class, err := classes.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return class, err
	}
	list, err := classes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if list.Items[i].GetAnnotations()[defaultClassAnnotation] == "true" {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}
