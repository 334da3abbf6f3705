// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
)

// serial makes names that are not used twice, however often a variant is measured.
var serial atomic.Int64

// BenchmarkWrite is the time to the answer of a write through kube-apiserver: of a ConfigMap, and of the trigger of a plan. The
// clients are one ordinary user.
func BenchmarkWrite(b *testing.B) {
	e := start(b)
	e.permit(b, cluster.Alice)
	if _, err := e.admin.kudo.KudoV1beta1().OperatorVersions(namespace).Create(b.Context(), version(), metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	idle := newPool(b, e.admin)
	for _, count := range []int{1, 16} {
		var clients []client
		for range count {
			clients = append(clients, e.client(b, cluster.Alice))
		}
		b.Run(fmt.Sprintf("clients=%d", count), func(b *testing.B) {
			compare(b, clients, configMaps(), triggers(idle))
		})
	}
}

func configMaps() *variant {
	return &variant{name: "ConfigMap", prepare: func(_ *testing.B, n int) []request {
		requests := make([]request, n)
		for r := range requests {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%d", serial.Add(1))}}
			requests[r] = func(ctx context.Context, c client) error {
				_, err := c.kube.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
				return err
			}
		}
		return requests
	}}
}

func triggers(idle *pool) *variant {
	return &variant{name: "Trigger", prepare: func(b *testing.B, n int) []request {
		b.Helper()
		requests := make([]request, n)
		for r, instance := range idle.take(b, n) {
			path := fmt.Sprintf("/apis/kudo.dev/v1beta1/namespaces/%s/instances/%s/plans/backup:trigger", namespace, instance)
			requests[r] = func(ctx context.Context, c client) error {
				return c.kudo.KudoV1beta1().RESTClient().Post().AbsPath(path).Do(ctx).Into(&v1beta1.PlanExecution{})
			}
		}
		return requests
	}}
}
