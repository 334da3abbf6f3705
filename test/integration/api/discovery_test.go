// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestDiscovery: resources with their kinds, short names, categories and verbs.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	const all = "create delete deletecollection get list patch update watch"
	want := []string{
		"instances Instance inst kudo: " + all,
		"instances/plans PlanTrigger: create get",
		"instances/status Instance: get patch update",
		"operators Operator op kudo: " + all,
		"operatorversionrevisions OperatorVersionRevision ovr: delete deletecollection get list patch update watch",
		"operatorversions OperatorVersion ov kudo: " + all,
		"planexecutions PlanExecution pe kudo: " + all,
		"planexecutions/cancel PlanExecutionCancel: create",
		"planexecutions/log PlanExecution: get",
		"planexecutions/status PlanExecution: get patch update",
	}
	list := env.Expect(t, http.StatusOK, get(harness.Root)).Object(t)
	var got []string
	for _, r := range list.Object["resources"].([]any) {
		resource := r.(map[string]any)
		if resource["namespaced"] != true {
			t.Errorf("%s is not namespaced", resource["name"])
		}
		words := []string{resource["name"].(string), resource["kind"].(string)}
		for _, list := range []string{"shortNames", "categories"} {
			words = append(words, texts(resource[list])...)
		}
		verbs := texts(resource["verbs"])
		slices.Sort(verbs)
		got = append(got, strings.Join(words, " ")+": "+strings.Join(verbs, " "))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func texts(list any) []string {
	var all []string
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, item.(string))
	}
	return all
}

// schema is what of one this test reads.
type schema struct {
	Description string
	Properties  map[string]*schema
}

// TestOpenAPIv3: every kind and every field of the group is described.
func TestOpenAPIv3(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]*schema }
	}
	env.Until(t, patience, "kube-apiserver to have fetched the document", func() error {
		got := env.Send(t, get("/openapi/v3/apis/kudo.dev/v1beta1"))
		if err := wantCode(got, http.StatusOK); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(got.Body), &document); err != nil {
			t.Fatal(err)
		}
		if len(document.Paths) == 0 {
			return fmt.Errorf("no paths yet: %.300s", got.Body)
		}
		return nil
	})
	ours := 0
	for name, s := range document.Components.Schemas {
		if !strings.Contains(name, "kudo") {
			continue
		}
		ours++
		if s.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for field, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
	if ours < 20 {
		t.Errorf("only %d schemas of the group", ours)
	}
	for _, path := range []string{"instances/{name}/plans", "instances/{name}/plans/{plan}:trigger", "planexecutions/{name}/log"} {
		if document.Paths[harness.Root+"/namespaces/{namespace}/"+path] == nil {
			t.Errorf("there is no path %s", path)
		}
	}
}

// TestOpenAPIv2: the merged document can be read in protobuf, as kubectl and Argo CD do; one group with a mistake spoils it for all.
func TestOpenAPIv2(t *testing.T) {
	t.Parallel()
	config, err := env.Cluster.RESTConfig(cluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	env.Until(t, patience, "kube-apiserver to have merged the group", func() error {
		document, err := client.OpenAPISchema()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range document.GetDefinitions().GetAdditionalProperties() {
			if strings.Contains(d.GetName(), "kudo") && strings.HasSuffix(d.GetName(), "v1beta1.PlanExecution") {
				return nil
			}
		}
		return fmt.Errorf("no definition of PlanExecution among %d", len(document.GetDefinitions().GetAdditionalProperties()))
	})
}

// TestExplain: kubectl explains fields from both documents.
func TestExplain(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"plaintext", "plaintext-openapiv2"} {
		env.Until(t, patience, "kubectl explain", func() error {
			out, err := env.Cluster.Kubectl("explain", "planexecution.status.phases.steps", "--output="+output)
			if err == nil && (!strings.Contains(out, "nextAttemptTime") || !strings.Contains(out, "steps of the phase")) {
				err = fmt.Errorf("it says %s", out)
			}
			return err
		})
	}
}
