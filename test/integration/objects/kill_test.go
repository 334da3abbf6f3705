// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// TestKilledBetweenApplyAndRecord: the executor dies as soon as the first of many objects is there, when it cannot have recorded that. All
// that is in the cluster is on record, and goes with the Instance. Other tests must not run at the same time.
func TestKilledBetweenApplyAndRecord(t *testing.T) {
	l := room.Enter(t)
	ns := l.Namespace(t)
	var roles []string
	for i := range 30 {
		roles = append(roles, clusterRole(fmt.Sprintf("%s-%02d", ns, i)))
	}
	pe := l.Install(t, ns, lab.Operator{
		Plans:     map[string]v1beta1.Plan{"deploy": lab.Serial("all")},
		Tasks:     []v1beta1.Task{lab.Apply("all", "roles")},
		Templates: map[string]string{"roles": strings.Join(roles, "---\n")},
	}, nil)
	ctx, cancel := context.WithTimeoutCause(t.Context(), lab.Patience, errors.New("time is up"))
	defer cancel()
	ours := metav1.ListOptions{LabelSelector: "kudo.dev/operator=test"}
	if err := lab.Follow(ctx, l.Dynamic.Resource(clusterRoles), ours, func(o *unstructured.Unstructured, present bool) bool {
		return present && strings.HasPrefix(o.GetName(), ns+"-")
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.KUDO.KillExecutor(); err != nil {
		t.Fatal(err)
	}
	i := l.Instance(t, ns, "sample", "to have an inventory", func(i *v1beta1.Instance) bool { return len(i.Status.Inventory) > 0 })
	on, unknown := map[string]bool{}, 0
	for _, e := range i.Status.Inventory {
		on[e.Name] = true
		if e.UID == "" {
			unknown++
		}
	}
	list, err := l.Dynamic.Resource(clusterRoles).List(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, o := range list.Items {
		if strings.HasPrefix(o.GetName(), ns+"-") {
			made++
			if !on[o.GetName()] {
				t.Errorf("%s is in the cluster and on no record", o.GetName())
			}
		}
	}
	t.Logf("%d of 30 roles were made, %d are on record, %d of them without a uid", made, len(on), unknown)
	if err := l.Kudo.KudoV1beta1().Instances(ns).Delete(t.Context(), "sample", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := l.KUDO.StartExecutor(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, l, lab.Instances, ns, "sample")
	if list, err = l.Dynamic.Resource(clusterRoles).List(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Items {
		if strings.HasPrefix(o.GetName(), ns+"-") {
			t.Errorf("%s is left of run %s", o.GetName(), pe.Name)
		}
	}
}
