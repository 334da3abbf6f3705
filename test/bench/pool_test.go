// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
	// poolSize is how many Instances there are to trigger.
	poolSize = 256
	// poolPatience is many times what the runs of all Instances take.
	poolPatience = 2 * time.Minute
)

// version is an operator whose plans end as soon as the executor has looked at them.
func version() *v1beta1.OperatorVersion {
	plan := v1beta1.Plan{Phases: []v1beta1.Phase{{Name: "main", Steps: []v1beta1.Step{{Name: "one"}}}}}
	return &v1beta1.OperatorVersion{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-1.0.0"},
		Spec:       v1beta1.OperatorVersionSpec{Plans: map[string]v1beta1.Plan{"deploy": plan, "backup": plan}},
	}
}

// pool hands out Instances that no run holds.
type pool struct {
	admin client
	// next is where the search begins, so that all Instances take turns.
	next int
}

// newPool makes the Instances and waits until they are deployed.
func newPool(b *testing.B, admin client) *pool {
	b.Helper()
	for n := range poolSize {
		instance := &v1beta1.Instance{
			ObjectMeta: metav1.ObjectMeta{Name: member(n)},
			Spec:       v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: version().Name}},
		}
		if _, err := admin.kudo.KudoV1beta1().Instances(namespace).Create(b.Context(), instance, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	p := &pool{admin: admin}
	p.take(b, poolSize)
	return p
}

func member(n int) string { return fmt.Sprintf("pool-%d", n%poolSize) }

// take waits until n Instances are idle and hands them out. It asks now and then instead of watching, which would be work for the
// servers while others are measured.
func (p *pool) take(b *testing.B, n int) []string {
	b.Helper()
	var names []string
	err := wait.PollUntilContextTimeout(b.Context(), 50*time.Millisecond, poolPatience, true, func(ctx context.Context) (bool, error) {
		list, err := p.admin.kudo.KudoV1beta1().Instances(namespace).List(ctx, metav1.ListOptions{FieldSelector: v1beta1.ActivePlanField + "="})
		if err != nil {
			return false, err
		}
		idle := map[string]bool{}
		for _, i := range list.Items {
			idle[i.Name] = true
		}
		names = nil
		for m := range poolSize {
			if name := member(p.next + m); idle[name] && len(names) < n {
				names = append(names, name)
			}
		}
		return len(names) == n, nil
	})
	if err != nil {
		b.Fatalf("%d of %d Instances are idle after %s (%v): does the executor work?", len(names), n, poolPatience, err)
	}
	p.next = (p.next + n) % poolSize
	return names
}
