// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"kudo.dev/kudo/test/integration/api/harness"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// oldKind is the CustomResourceDefinition of a kind as KUDO had it before.
func oldKind(plural, kind string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.kudo.dev}
spec:
  group: kudo.dev
  scope: Namespaced
  names: {plural: %[1]s, kind: %[2]s}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, plural, kind)
}

// TestTakeOverFromCRDs: where CustomResourceDefinitions of an earlier KUDO serve the group, applying the install manifests hands it to
// this server, and it stays there; their data are neither shown nor lost.
func TestTakeOverFromCRDs(t *testing.T) {
	ns := env.Namespace(t)
	env.Create(t, ns, "operators", "{apiVersion: kudo.dev/v1beta1, kind: Operator, metadata: {name: new}}")
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: apiServicePath})
	for plural, kind := range map[string]string{"operators": "Operator", "operatorversions": "OperatorVersion", "instances": "Instance"} {
		env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: crdPath, Body: oldKind(plural, kind)})
	}
	t.Cleanup(func() {
		for _, plural := range []string{"operators", "operatorversions", "instances"} {
			env.Send(t, harness.Request{Method: "DELETE", Path: crdPath + "/" + plural + ".kudo.dev"})
		}
		served(t)
	})
	old := harness.Request{Method: "POST", Path: harness.Path(ns, "operators"), Body: "{apiVersion: kudo.dev/v1beta1, kind: Operator, metadata: {name: old}}"}
	env.Until(t, patience, "the CustomResourceDefinition to serve the group", func() error {
		service := env.Send(t, harness.Request{Method: "GET", Path: apiServicePath})
		if service.Code != http.StatusOK || service.Field(t, "spec", "service") != "" {
			return fmt.Errorf("APIService: %s", service.Text())
		}
		if got := env.Send(t, old); got.Code != http.StatusCreated {
			return fmt.Errorf("%s", got.Text())
		}
		return nil
	})

	if err := env.KUDO.Repair(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	served(t)
	// kube-apiserver looks at its CustomResourceDefinitions again whenever one changes.
	env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: crdPath + "/operators.kudo.dev",
		Body: fmt.Sprintf(`{"metadata":{"labels":{"touched":"%d"}}}`, time.Now().Unix())})
	served(t)
	service := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: apiServicePath}).Object(t)
	if got := service.GetLabels()["kube-aggregator.kubernetes.io/automanaged"]; got != "false" {
		t.Errorf("automanaged is %q", got)
	}
	if got := env.Names(t, harness.Path(ns, "operators")); len(got) != 1 || got[0] != "new" {
		t.Errorf("operators: %q", got)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Root + "/planexecutions"})
}
