// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// awayInterval is how often a server that is away is asked again. The pauses of an informer grow to more than half a minute, and
// for so long every run would stand still after the server has come back.
const awayInterval = time.Second

// patient is a source for an informer that waits while the server is away, and says so once per outage.
func patient[L runtime.Object](resource string, list func(context.Context, metav1.ListOptions) (L, error), follow func(context.Context, metav1.ListOptions) (watch.Interface, error)) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return untilBack(ctx, resource, func() (L, error) { return list(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return untilBack(ctx, resource, func() (watch.Interface, error) { return follow(ctx, o) })
		},
	}
}

// untilBack asks until the answer is not that the server is away.
func untilBack[T any](ctx context.Context, resource string, ask func() (T, error)) (T, error) {
	logger := klog.FromContext(ctx).WithValues("resource", resource)
	var answer T
	var last error
	began := time.Now()
	err := wait.PollUntilContextCancel(ctx, awayInterval, true, func(context.Context) (bool, error) {
		first := last == nil
		if answer, last = ask(); !away(last) {
			if !first {
				logger.Info("The server is back", "after", time.Since(began).Round(time.Second))
			}
			return true, last
		}
		if first {
			logger.Info("The server is away; asking again every second", "err", last)
		}
		return false, nil
	})
	return answer, err
}

// away tells whether an error goes away by itself. That the group is not found is one: kube-apiserver says so until the server is
// installed.
func away(err error) bool {
	return apierrors.IsServiceUnavailable(err) || apierrors.IsNotFound(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsProbableEOF(err)
}
