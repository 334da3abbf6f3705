// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// example is the folder of the operators that come with the project.
var example = filepath.Join("..", "artifacts", "operators")

func TestResources(t *testing.T) {
	p, err := Read(filepath.Join(example, "first-operator"))
	if err != nil {
		t.Fatal(err)
	}
	operator, version, instance, err := Resources(p, "team")
	if err != nil {
		t.Fatal(err)
	}
	if operator.Name != "first-operator" || operator.Namespace != "team" || operator.Spec.KubernetesVersion != "1.25.0" || operator.Kind != "Operator" {
		t.Errorf("operator: %+v", operator)
	}
	if version.Name != "first-operator-1.27.0-0.1.0" || version.Namespace != "team" || version.APIVersion != "kudo.dev/v1beta1" {
		t.Errorf("operatorversion: %+v", version.ObjectMeta)
	}
	if diff := cmp.Diff(v1beta1.ObjectReference{Kind: "Operator", Name: "first-operator"}, version.Spec.Operator); diff != "" {
		t.Error(diff)
	}
	yes, no, two := true, false, "2"
	want := []v1beta1.Parameter{{Name: "replicas", DisplayName: "Copies", Description: "How many copies of the web server run",
		Type: v1beta1.IntegerValueType, Default: &two, Required: &yes, Immutable: &no}}
	if diff := cmp.Diff(want, version.Spec.Parameters); diff != "" {
		t.Error(diff)
	}
	if instance.Name != "first-operator-instance" || instance.Namespace != "team" || instance.Labels[OperatorLabel] != "first-operator" ||
		instance.Spec.OperatorVersion != (v1beta1.ObjectReference{Name: version.Name}) {
		t.Errorf("instance: %+v", instance)
	}
}

func TestOperatorVersionName(t *testing.T) {
	if got := OperatorVersionName("kv", "", "0.1.0"); got != "kv-0.1.0" {
		t.Error(got)
	}
	if got := OperatorVersionName("kv", "7.2", "0.1.0"); got != "kv-7.2-0.1.0" {
		t.Error(got)
	}
}

func TestParameterConversion(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, test := range []struct {
		name, yaml string
		want       *string
	}{
		{"absent", "description: x", nil},
		{"null", "default:", nil},
		{"empty", `default: ""`, text("")},
		{"text", "default: abc <&> ü", text("abc <&> ü")},
		{"quoted number", `default: "1e6"`, text("1e6")},
		{"integer", "default: 1000000", text("1000000")},
		{"large integer", "default: 123456789012345678", text("123456789012345678")},
		{"number", "default: 0.10", text("0.1")},
		{"large number", "default: 12345678.5", text("12345678.5")},
		{"boolean", "default: yes", text("true")},
		{"octal", "default: 0644", text("420")},
		{"date", "default: 2020-01-02", text("2020-01-02")},
		{"array", "type: array\n  default: [b, 1000000]", text("- b\n- 1000000\n")},
		{"empty array", "type: array\n  default: []", text("[]\n")},
		{"array without default", "type: array", text("null\n")},
		{"map", "type: map\n  default: {b: 1, a: [x]}", text("a:\n- x\nb: 1\n")},
		{"map without default", "type: map\n  default:", text("null\n")},
		{"map given as text", "type: map\n  default: 'a: b'", text("'a: b'\n")},
		{"mapping without type", "default: {a: 1}", text(`{"a":1}`)},
		{"empty list without type", "default: []", text("[]")},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := minimal()
			content["params.yaml"] = "parameters:\n- name: p\n  " + test.yaml + "\n"
			p, err := Read(write(t, content))
			if err != nil {
				t.Fatal(err)
			}
			_, version, _, err := Resources(p, "ns")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, version.Spec.Parameters[0].Default); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnumConversion(t *testing.T) {
	content := minimal()
	content["params.yaml"] = "parameters: [{name: a, enum: [1, 'b', true]}, {name: b, enum: []}, {name: c, required: false, immutable: true}]\n"
	p, err := Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	_, version, _, err := Resources(p, "ns")
	if err != nil {
		t.Fatal(err)
	}
	params := version.Spec.Parameters
	if diff := cmp.Diff([]v1beta1.EnumValues{{"1", "b", "true"}, {}, nil}, []v1beta1.EnumValues{params[0].Enum, params[1].Enum, params[2].Enum}); diff != "" {
		t.Error(diff)
	}
	if *params[2].Required || !*params[2].Immutable || !*params[0].Required || *params[0].Immutable {
		t.Errorf("required and immutable: %+v", params)
	}
}

func TestResourcesErrors(t *testing.T) {
	for _, test := range []struct {
		name, operator, params, want string
	}{
		{"no name", "operatorVersion: '1'", "", `operator.yaml: name and operatorVersion are required, but they are "" and "1"`},
		{"no version", "name: x", "", `they are "x" and ""`},
		{"kind", "tasks: [{name: t, kind: Exec}]", "", `operator.yaml:3: tasks[0] "t": there is no task kind "Exec"; there are Apply,`},
		{"template", "tasks: [{name: s, kind: Dummy}, {name: t, kind: Apply, spec: {resources: [a.yaml, b.yaml]}}]", "", `operator.yaml:3: tasks[1] "t": spec.resources[1]: there is no template "b.yaml"; add the file templates/b.yaml`},
		{"toggle", "tasks: [{name: t, kind: Toggle, spec: {resources: [a.yaml]}}]", "", "spec.parameter is missing"},
		{"pipe pod", "tasks: [{name: t, kind: Pipe, spec: {pod: p.yaml, pipe: [{file: /a, kind: Secret, key: k}]}}]", "", `spec.pod: there is no template "p.yaml"`},
		{"pipe", "tasks: [{name: t, kind: Pipe, spec: {pod: a.yaml}}]", "", "spec.pipe is missing"},
		{"parameterFile", "tasks: [{name: t, kind: KudoOperator, spec: {package: zk, parameterFile: p.yaml}}]", "", `spec.parameterFile: there is no template "p.yaml"`},
		{"enum", "", "parameters: [{name: p, enum: [null]}]", `params.yaml:1: parameter "p": enum[0] has no value`},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := map[string]string{"operator.yaml": test.operator, "params.yaml": test.params, "templates/a.yaml": ""}
			if !strings.Contains(test.operator, "name: x") && !strings.HasPrefix(test.operator, "operatorVersion") {
				content["operator.yaml"] = "name: x\noperatorVersion: '1'\n" + test.operator
			}
			p, err := Read(write(t, content))
			if err != nil {
				t.Fatal(err)
			}
			_, _, _, err = Resources(p, "ns")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// All operators that come with the project load, and so do real packages, which are not part of the repository:
// KUDO_SHARED says where they are.
func TestPackagesLoad(t *testing.T) {
	for name, folder := range map[string]string{"artifacts": filepath.Dir(example), "shared": os.Getenv("KUDO_SHARED")} {
		packages, _ := filepath.Glob(filepath.Join(folder, "operators", "*", OperatorFileName))
		t.Run(name, func(t *testing.T) {
			if folder == "" || len(packages) == 0 {
				t.Skip("no operator packages: set KUDO_SHARED to the folder that holds operators/")
			}
			for _, file := range packages {
				p, err := Read(filepath.Dir(file))
				if err != nil {
					t.Error(err)
					continue
				}
				if _, version, _, err := Resources(p, "ns"); err != nil {
					t.Errorf("%s: %v", file, err)
				} else if len(version.Spec.Templates) == 0 || version.Spec.Plans["deploy"].Phases == nil {
					t.Errorf("%s: it has no templates or no deploy plan", file)
				}
			}
		})
	}
}
