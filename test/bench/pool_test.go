// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
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

func newInstance(name string) *v1beta1.Instance {
	return &v1beta1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: version().Name}},
	}
}

// pool hands out Instances that no run holds. One that was given a run comes back when the executor is done with it.
type pool struct{ idle chan string }

// newPool makes the Instances and follows them for as long as the benchmark runs.
func newPool(b *testing.B, admin client) *pool {
	b.Helper()
	instances := admin.kudo.KudoV1beta1().Instances(namespace)
	p := &pool{make(chan string, poolSize)}
	members := map[string]bool{}
	for n := range poolSize {
		members[fmt.Sprintf("pool-%d", n)] = true
	}
	list, err := instances.List(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	go p.follow(b.Context(), list.ResourceVersion, members, func(from string) (watch.Interface, error) {
		return instances.Watch(b.Context(), metav1.ListOptions{ResourceVersion: from})
	})
	for name := range members {
		if _, err := instances.Create(b.Context(), newInstance(name), metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range p.take(b, poolSize) {
		p.idle <- name
	}
	return p
}

// follow puts members back that a run has left.
func (p *pool) follow(ctx context.Context, from string, members map[string]bool, open func(string) (watch.Interface, error)) {
	held := map[string]bool{}
	for ctx.Err() == nil {
		w, err := open(from)
		if err != nil {
			continue // take says that nothing comes
		}
		for event := range w.ResultChan() {
			i, ok := event.Object.(*v1beta1.Instance)
			if !ok || !members[i.Name] {
				continue
			}
			from = i.ResourceVersion
			holds := i.Spec.PlanExecution.UID != ""
			if held[i.Name] && !holds {
				p.idle <- i.Name
			}
			held[i.Name] = holds
		}
		w.Stop()
	}
}

// take waits until n Instances are idle and hands them out.
func (p *pool) take(b *testing.B, n int) []string {
	b.Helper()
	patience := time.NewTimer(poolPatience)
	defer patience.Stop()
	names := make([]string, 0, n)
	for len(names) < n {
		select {
		case name := <-p.idle:
			names = append(names, name)
		case <-patience.C:
			b.Fatalf("%d of %d Instances are idle after %s: does the executor work?", len(names), n, poolPatience)
		}
	}
	return names
}
