// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/cluster"
)

// TestTypedPlans: the generated client starts plans and reads them, as a user with the rights to one of them.
func TestTypedPlans(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "get,create,trigger:backup instances/plans db")
	config, err := env.Cluster.RESTConfig(cluster.Alice)
	if err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	instances := client.KudoV1beta1().Instances(ns)
	trigger := func(plan string, o metav1.CreateOptions) (*v1beta1.PlanExecution, error) {
		return instances.CreatePlan(t.Context(), "db", &v1beta1.PlanTrigger{
			ObjectMeta: metav1.ObjectMeta{Name: "typed", Labels: map[string]string{"by": "client"}},
			PlanName:   plan, Parameters: map[string]string{"SIZE": "4"},
		}, o)
	}
	if _, err := trigger("restore", metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("restore: %v", err)
	}
	for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
		pe, err := trigger("backup", metav1.CreateOptions{DryRun: dryRun})
		if err != nil {
			t.Fatal(err)
		}
		if pe.Name != "typed" || pe.Labels["by"] != "client" || pe.Spec.PlanName != "backup" || pe.Spec.InstanceName != "db" || pe.Spec.Parameters["SIZE"] != "4" ||
			pe.Spec.RequestedBy == nil || pe.Spec.RequestedBy.Username != cluster.Alice || pe.Status.Status != v1beta1.ExecutionPending {
			t.Errorf("the run is %+v", pe)
		}
	}
	plans, err := instances.GetPlans(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if plans.Name != "db" || len(plans.Plans) != 4 {
		t.Errorf("the plans are %+v", plans)
	}
	for _, p := range plans.Plans {
		if !p.Defined || p.LockedBy == nil || p.LockedBy.Name != "typed" || p.MayTrigger != (p.Name == "backup") || (p.LastRunName == "typed") != (p.Name == "backup") {
			t.Errorf("plan %+v", p)
		}
	}
	if _, err := instances.GetPlans(t.Context(), "other", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the plans of another Instance: %v", err)
	}
}
