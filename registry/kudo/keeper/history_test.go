// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package keeper

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"kudo.dev/kudo/apis/kudo"
)

// TestChronicle: a history is pruned once for each reason there is, and not before lock and run have been brought together.
func TestChronicle(t *testing.T) {
	i := &kudo.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "db"}}
	limited := i.DeepCopy()
	limited.Spec.FailedRunsHistoryLimit = new(int32(3))
	spelled := i.DeepCopy()
	spelled.Spec.FailedRunsHistoryLimit = new(int32(kudo.DefaultRunsHistoryLimit))
	key := cache.MetaObjectToName(i)
	seen := func(i *kudo.Instance) func(*chronicle) { return func(c *chronicle) { c.limitsChanged(i, false) } }
	gone := func(c *chronicle) { c.limitsChanged(i, true) }
	ended := func(c *chronicle) { c.runEnded(key) }
	together := func(c *chronicle) { c.together(key) }
	taken := func(c *chronicle) {
		key, _ := c.queue.Get()
		c.queue.Done(key)
	}
	for _, tc := range []struct {
		name  string
		steps []func(*chronicle)
		want  int
	}{
		{"nothing happened", []func(*chronicle){together}, 0},
		{"at the start", []func(*chronicle){seen(i), together}, 1},
		{"the lock is not looked at yet", []func(*chronicle){seen(i), ended}, 0},
		{"once for both", []func(*chronicle){seen(i), ended, together, together}, 1},
		{"a run has ended", []func(*chronicle){seen(i), together, taken, ended, together}, 1},
		{"it changed otherwise", []func(*chronicle){seen(i), together, taken, seen(i), together}, 0},
		{"a limit was changed", []func(*chronicle){seen(i), together, taken, seen(limited), together}, 1},
		{"the default was spelled out", []func(*chronicle){seen(i), together, taken, seen(spelled), together}, 0},
		{"made anew", []func(*chronicle){seen(i), together, taken, gone, seen(i), together}, 1},
		{"deleted", []func(*chronicle){seen(i), together, taken, gone, together}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newChronicle(nil)
			defer c.queue.ShutDown()
			for _, step := range tc.steps {
				step(c)
			}
			if got := c.queue.Len(); got != tc.want {
				t.Errorf("%d Instances are to be pruned, want %d", got, tc.want)
			}
		})
	}
}
