// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package operators_test checks that the example operators can be installed: that each plan of each of them renders
// to objects that current Kubernetes APIs know, without a field that they do not have.
package operators_test

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/render"
)

// values are given to the parameters that need one.
var values = map[string]string{"password": "secret", "rootPassword": "secret", "settings": "{a: b}", "tolerations": "[{key: a, operator: Exists}]", "storageClass": "fast"}

func TestExamples(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			p, err := bundle.Read(entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			_, version, _, err := bundle.Resources(p, "team")
			if err != nil {
				t.Fatal(err)
			}
			used := map[string]bool{}
			for name, plan := range version.Spec.Plans {
				for _, phase := range plan.Phases {
					for _, step := range phase.Steps {
						for _, task := range step.Tasks {
							used[task] = true
							checkTask(t, &version.Spec, name, phase.Name, step.Name, task)
						}
					}
				}
			}
			for _, task := range version.Spec.Tasks {
				if !used[task.Name] {
					t.Errorf("no plan has the task %q", task.Name)
				}
			}
		})
	}
}

// checkTask renders the templates of a task, with the defaults and with values, and decodes the objects strictly.
func checkTask(t *testing.T, spec *v1beta1.OperatorVersionSpec, plan, phase, step, name string) {
	t.Helper()
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Strict: true})
	var resources []string
	known := false
	for _, task := range spec.Tasks {
		if task.Name == name {
			resources, known = task.Spec.Resources, true
		}
	}
	if !known {
		t.Errorf("plan %s, phase %s, step %s: there is no task %q", plan, phase, step, name)
	}
	for _, given := range []map[string]string{{}, values} {
		params, err := render.Parameters(spec.Parameters, given, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := render.Variables{OperatorName: spec.Operator.Name, Name: "kv", Namespace: "team", AppVersion: spec.AppVersion,
			OperatorVersion: spec.Version, PlanName: plan, PhaseName: phase, StepName: step, Params: params}
		for _, resource := range resources {
			text, err := render.Template(resource, spec.Templates[resource], v)
			if err != nil {
				t.Error(err)
				continue
			}
			objects, err := render.Objects(resource, text)
			if err != nil || len(objects) == 0 {
				t.Errorf("%s: %d objects, %v\n%s", resource, len(objects), err, text)
			}
			for _, object := range objects {
				data, err := object.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := runtime.Decode(decoder, data); err != nil {
					t.Errorf("%s: %v\n%s", resource, err, text)
				}
			}
		}
	}
}
