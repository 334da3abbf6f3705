// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestKubectlGet: short names, the category and -o wide show what people look for.
func TestKubectlGet(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Expect(t, http.StatusCreated, paths["plans/P:trigger"](ns, "db", "backup", "")).Object(t).GetName()
	env.Until(t, patience, "the step to be shown", func() error {
		out, err := env.Cluster.Kubectl("get", "-n", ns, "inst,ov,pe", "-o", "wide")
		for _, text := range []string{"ACTIVE PLAN", "LAST PLAN", "PARAMETERS", "REQUESTED BY", "main.hold", run, "Manual", "db", "backup,deploy,restore,update"} {
			if err == nil && !strings.Contains(out, text) {
				err = fmt.Errorf("it lacks %q:\n%s", text, out)
			}
		}
		return err
	})
	out, err := env.Cluster.Kubectl("get", "-n", ns, "kudo", "-o", "name")
	for _, name := range []string{"instance.kudo.dev/db", "operatorversion.kudo.dev/demo-1.0.0", "planexecution.kudo.dev/" + run} {
		if err != nil || !strings.Contains(out, name) {
			t.Errorf("the category lacks %s: %v\n%s", name, err, out)
		}
	}
}

// TestKubectlWait: kubectl waits for the end of a run and of an Instance's readiness.
func TestKubectlWait(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Expect(t, http.StatusCreated, paths["plans/P:trigger"](ns, "db", "restore", "")).Object(t).GetName()
	for _, what := range [][]string{{"--for=condition=Complete", "pe/" + run}, {"--for=condition=Ready", "inst/db"}, {"--for=jsonpath={.status.completionTime}", "planexecution/" + run}} {
		if out, err := env.Cluster.Kubectl(append([]string{"wait", "-n", ns, "--timeout=20s"}, what...)...); err != nil {
			t.Errorf("wait %s: %v %s", what, err, out)
		}
	}
}

// TestKubectlWatch: get -w prints a row for each change until its time is over.
func TestKubectlWatch(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Expect(t, http.StatusCreated, paths["plans/P:trigger"](ns, "db", "restore", "")).Object(t).GetName()
	env.Idle(t, ns, "db")
	out, err := env.Cluster.Kubectl("get", "-n", ns, "pe", run, "--watch", "--request-timeout=2s")
	if !strings.Contains(out, "STATUS") || !strings.Contains(out, "COMPLETE") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestKubectlRaw: a plan is triggered without any plugin, and applied objects can be applied again.
func TestKubectlRaw(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	out, err := env.Cluster.Kubectl("create", "--raw", harness.Path(ns, "instances", "db", "plans", "restore:trigger"), "-f", "/dev/null")
	if err != nil || !strings.Contains(out, "PlanExecution") {
		t.Errorf("%v: %s", err, out)
	}
	env.Idle(t, ns, "db")
	for _, serverSide := range []string{"false", "true"} {
		for range 2 {
			if _, err := env.Cluster.KubectlAs(t.Context(), cluster.Admin, strings.NewReader(harness.Instance("by-kubectl-"+serverSide)), "apply", "-n", ns, "--server-side="+serverSide, "-f", "-"); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTypedClient: the generated client starts plans and lists them.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	config, err := env.Cluster.RESTConfig(cluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	instances := client.KudoV1beta1().Instances(ns)
	trigger := &v1beta1.PlanTrigger{PlanName: "backup", Parameters: map[string]string{"COUNT": "5"}}
	run, err := instances.CreatePlan(t.Context(), "db", trigger, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if run.Spec.PlanName != "backup" || run.Spec.RequestedBy == nil || run.Spec.RequestedBy.Username != cluster.Admin || run.Spec.Parameters["COUNT"] != "5" {
		t.Errorf("the run is %+v", run.Spec)
	}
	plans, err := instances.GetPlans(t.Context(), "db", metav1.GetOptions{})
	if err != nil || len(plans.Plans) != 4 || !plans.Plans[0].Active {
		t.Errorf("plans %+v, %v", plans, err)
	}
	if _, err := client.KudoV1beta1().PlanExecutions(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.instanceName=db"}); err != nil {
		t.Error(err)
	}
}
