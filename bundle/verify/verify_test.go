// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/bundle/verify"
)

// valid is a package without findings.
func valid() map[string]string {
	return map[string]string{
		"operator.yaml": `apiVersion: kudo.dev/v1beta1
name: op
operatorVersion: "1.0.0"
kubernetesVersion: "1.25.0"
tasks:
- name: apply
  kind: Apply
  spec:
    resources: [a.yaml]
plans:
  deploy:
    phases:
    - name: main
      steps:
      - name: all
        tasks: [apply]
`,
		"params.yaml": `parameters:
- name: greeting
  default: hello
`,
		"templates/a.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Name }}
data:
  greeting: {{ .Params.greeting }}
`,
	}
}

func write(t *testing.T, content map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range content {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// findings verifies a package and returns what was found as lines of severity and text.
func findings(t *testing.T, content map[string]string, extended ...string) []string {
	t.Helper()
	p, err := bundle.Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	result, err := verify.Package(context.Background(), p, extended...)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range result.Findings {
		lines = append(lines, string(result.Findings[i].Severity)+" "+result.Findings[i].Error())
	}
	return lines
}

func TestValid(t *testing.T) {
	if found := findings(t, valid()); found != nil {
		t.Error(strings.Join(found, "\n"))
	}
}

// Each rule finds what it is for, says where it is, and nothing else is found.
func TestRules(t *testing.T) {
	// change is made in file: old becomes new, or new is appended if old is empty. want begin the findings.
	for _, test := range []struct {
		name, file, from, to string
		want                 []string
	}{
		{"duplicate parameter", "params.yaml", "", "- {name: Greeting, trigger: deploy}\n", []string{`error params.yaml:4: parameter "Greeting" has a duplicate in line 2`}},
		{"characters", "params.yaml", "", "- {name: 'a;b', trigger: deploy}\n", []string{`error params.yaml:4: parameter "a;b" contains invalid character ';'`}},
		{"operatorVersion", "operator.yaml", `"1.0.0"`, "''", []string{`error operator.yaml:3: "operatorVersion" is required and must be semver`, `error operator.yaml:2: the operator would be installed as OperatorVersion "op-"`}},
		{"loose semver", "operator.yaml", `"1.0.0"`, "'1.2'", nil},
		{"appVersion", "operator.yaml", "", "appVersion: latest\n", []string{`error operator.yaml:17: "appVersion" must be semver, but it is "latest"`}},
		{"kudoVersion", "operator.yaml", "", "kudoVersion: x\n", []string{`error operator.yaml:17: "kudoVersion" must be semver`}},
		{"name", "operator.yaml", "name: op\n", "name: Op\n", []string{`error operator.yaml:2: the operator would be installed as OperatorVersion "Op-1.0.0"`}},
		{"typo", "operator.yaml", "    phases:", "    strategi: serial\n    phases:", []string{`error operator.yaml:12:5: plans.deploy: there is no field "strategi"; did you mean "strategy"?`}},
		{"unknown field", "operator.yaml", "", "x-team: {a: b}\n", []string{`warning operator.yaml:17:1: the file: there is no field "x-team", so it has no effect`}},
		{"typo for people", "params.yaml", "", "  desription: x\n", []string{`warning params.yaml:4:3: parameters[0]: there is no field "desription"; did you mean "description"?`}},
		{"letter case", "operator.yaml", "operatorVersion", "operatorversion", []string{`warning operator.yaml:3:1: the file: write "operatorversion" as "operatorVersion"`}},
		{"key twice", "operator.yaml", "", "name: op\n", []string{`error operator.yaml:17:1: the file: the key "name" is there twice, first in line 2`}},
		{"two documents", "operator.yaml", "", "---\nname: b\n", []string{`warning operator.yaml: only the first YAML document is read`}},
		{"task kind", "operator.yaml", "kind: Apply", "kind: apply", []string{`error operator.yaml:7: tasks[0] "apply": there is no task kind "apply"`, `warning templates/a.yaml: template "a.yaml" is not referenced`}},
		{"no resources", "operator.yaml", "resources: [a.yaml]", "resources: []", []string{`error operator.yaml:8: task "apply": spec.resources is empty`, `warning templates/a.yaml: template "a.yaml" is not referenced`}},
		{"foreign option", "operator.yaml", "resources: [a.yaml]", "resources: [a.yaml]\n    done: true", []string{`warning operator.yaml:10: task "apply": a task of kind Apply does not use spec.done`}},
		{"unused task", "operator.yaml", "plans:", "- {name: other, kind: Dummy, spec: {done: true}}\nplans:", []string{`warning operator.yaml:10: task "other" defined but not used in any plan`}},
		{"undefined task", "operator.yaml", "tasks: [apply]", "tasks: [apply, other]", []string{`error operator.yaml:16: plan "deploy": step "all" of phase "main" uses the task "other", which is not defined`}},
		{"task twice", "operator.yaml", "plans:", "- {name: apply, kind: Dummy, spec: {done: true}}\nplans:", []string{`error operator.yaml:10: task "apply" is defined twice, first in line 6`}},
		{"no deploy", "operator.yaml", "  deploy:", "  install:", []string{`error operator.yaml:10: there is no plan "deploy"`}},
		{"plan name", "operator.yaml", "plans:", "plans:\n  Back_up: {}", []string{`error operator.yaml:11: plan "Back_up": the name of a plan is part of a permission`}},
		{"step without tasks", "operator.yaml", "tasks: [apply]", "tasks: [apply]\n      - name: empty", []string{`warning operator.yaml:17: step "empty" of phase "main" of plan "deploy" has no tasks`}},
		{"step twice", "operator.yaml", "tasks: [apply]", "tasks: [apply]\n      - {name: all, tasks: [apply]}", []string{`error operator.yaml:17: a step of phase "main" of plan "deploy" has the name "all", which another one has too`}},
		{"trigger", "params.yaml", "", "  trigger: backup\n", []string{`error params.yaml:4: plan "backup" used in parameter "greeting" is not defined`}},
		{"undefined parameter", "templates/a.yaml", "", "  x: {{ .Params.nope }}\n", []string{`error templates/a.yaml:7: parameter "nope" in template a.yaml is not defined`, `error templates/a.yaml:7:15: .Params.nope: the operator has no parameter "nope"`}},
		{"undefined parameter in a branch", "templates/a.yaml", "", "  x: {{ if eq .Name \"prod\" }}{{ with .Params }}{{ .nope }}{{ end }}{{ end }}\n", []string{`error templates/a.yaml:7: parameter "nope" in template a.yaml is not defined`}},
		{"other dot", "templates/a.yaml", "", "  x: {{ range list 1 }}{{ if eq $.Name \"prod\" }}{{ .nope }}{{ end }}{{ end }}\n", nil},
		{"undefined variable", "templates/a.yaml", "", "  x: {{ if false }}{{ .TaskName }}{{ end }}\n", []string{`error templates/a.yaml:7: template a.yaml uses the variable ".TaskName", which there is not`}},
		{"unused parameter", "params.yaml", "", "- {name: other}\n", []string{`warning params.yaml:4: parameter "other" defined but not used.`}},
		{"parameter of a trigger", "params.yaml", "", "- {name: other, trigger: deploy}\n", nil},
		{"immutable", "params.yaml", "", "  immutable: true\n- {name: b, trigger: deploy, immutable: true, required: false}\n", []string{`error params.yaml:5: parameter "b" is immutable but`}},
		{"advanced", "params.yaml", "", "- {name: b, trigger: deploy, advanced: true}\n", []string{`error params.yaml:4: parameter "b" is marked as advanced`}},
		{"enum", "params.yaml", "", "  enum: [hi]\n", []string{`error params.yaml:3: parameter "greeting": default: Unsupported value: "hello"`}},
		{"empty enum", "params.yaml", "", "- {name: b, trigger: deploy, enum: []}\n", []string{`error params.yaml:4: parameter "b" is an enum but has no allowed values`}},
		{"enum of another type", "params.yaml", "", "- {name: b, trigger: deploy, type: integer, enum: [a]}\n", []string{`error params.yaml:4: parameter "b" has an invalid enum value`}},
		{"type", "params.yaml", "", "  type: integer\n", []string{`error params.yaml:3: parameter "greeting": default: Invalid value: "hello"`}},
		{"number without quotes", "params.yaml", "", "- {name: b, trigger: deploy, type: integer, default: 1000000}\n", nil},
		{"unknown type", "params.yaml", "", "  type: text\n", []string{`error params.yaml:4: parameter "greeting": there is no type "text"`}},
		{"group", "params.yaml", "", "  group: a/b\n", []string{`error params.yaml:4: parameter "greeting" has a group with invalid character '/'`, `error params.yaml:4: parameter "greeting" has a group that is not defined`}},
		{"group twice", "params.yaml", "", "groups: [{name: a}, {name: a}, {name: b/c}]\n", []string{`error params.yaml:4: group "a" is duplicated`, `error params.yaml:4: group "b/c" contains invalid character '/'`}},
		{"template does not parse", "templates/a.yaml", "", "{{ if }}\n", []string{`error templates/a.yaml:7: missing value for if`, `warning params.yaml:2: parameter "greeting" defined but not used.`}},
		{"unused template", "templates/b.yaml", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", []string{`warning templates/b.yaml: template "b.yaml" is not referenced by any task`}},
		{"no objects", "templates/a.yaml", "kind: ConfigMap", "", []string{`error templates/a.yaml: rendered with the defaults, the document that begins in line 1: kind is missing`}},
		{"namespace", "templates/a.yaml", "", "---\napiVersion: v1\nkind:  Namespace\nmetadata: {name: x}\n", []string{`error templates/a.yaml:9: template "a.yaml" contains "kind: Namespace"`}},
		{"namespaceManifest", "operator.yaml", "", "namespaceManifest: ns.yaml\n", []string{`error operator.yaml:17: namespaceManifest "ns.yaml": there is no such template`}},
		{"Toggle", "operator.yaml", "plans:", "- {name: t, kind: Toggle, spec: {resources: [a.yaml], parameter: nope}}\nplans:", []string{`error operator.yaml:10: parameter "nope" in ToggleTask "t" is not defined`, `warning operator.yaml:10: task "t" defined but not used`}},
		{"Toggle of text", "operator.yaml", "plans:", "- {name: t, kind: Toggle, spec: {resources: [a.yaml], parameter: greeting}}\nplans:", []string{`error operator.yaml:10: parameter "greeting" in ToggleTask "t" has the default "hello", which is neither true nor false`, `warning operator.yaml:10: task "t" defined but not used`}},
		{"Pipe", "operator.yaml", "plans:", "- {name: t, kind: Pipe, spec: {pod: a.yaml, pipe: [{file: /a, envFile: /b, kind: Pod, key: a.b}]}}\nplans:",
			[]string{`error operator.yaml:10: task "t": spec.pipe[0]: it needs exactly one of file and envFile`, `error operator.yaml:10: task "t": spec.pipe[0]: kind is "Pod"`, `error operator.yaml:10: task "t": spec.pipe[0]: key is "a.b"`, `warning operator.yaml:10: task "t" defined but not used`, `error templates/a.yaml: rendered with the defaults, the document that begins in line 1: a Pipe task needs a Pod`}},
		{"child", "operator.yaml", "plans:", "- {name: t, kind: KudoOperator, spec: {}}\nplans:", []string{`error operator.yaml:10: task "t": spec.package is missing`, `warning operator.yaml:10: task "t" defined but not used`}},
		{"child of the same name", "operator.yaml", "plans:", "- {name: t, kind: KudoOperator, spec: {package: op}}\nplans:", []string{`warning operator.yaml:10: task "t" defined but not used`, `error operator.yaml:10: tasks[1] "t": spec.package "op": cyclic package dependency found when adding package op-1.0.0 -> op-1.0.0: op-1.0.0 -> op-1.0.0`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			content := valid()
			text := content[test.file]
			if test.from == "" {
				content[test.file] = text + test.to
			} else if content[test.file] = strings.Replace(text, test.from, test.to, 1); content[test.file] == text {
				t.Fatalf("%s has no %q", test.file, test.from)
			}
			found := findings(t, content)
			ok := len(found) == len(test.want)
			for i := 0; ok && i < len(found); i++ {
				ok = false
				for _, want := range test.want {
					ok = ok || strings.HasPrefix(found[i], want)
				}
			}
			if !ok {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// What a plan stores with Pipe tasks is known to its templates only.
func TestPipesOfPlans(t *testing.T) {
	content := valid()
	content["operator.yaml"] = strings.Replace(content["operator.yaml"], "plans:\n", `- {name: pipe, kind: Pipe, spec: {pod: pod.yaml, pipe: [{file: /a, kind: Secret, key: k}]}}
plans:
  make:
    phases:
    - {name: a, steps: [{name: a, tasks: [pipe, apply]}, {name: b, tasks: [pipe]}]}
`, 1)
	content["templates/pod.yaml"] = "metadata: {}\nspec: {}\n"
	content["templates/a.yaml"] += "  secret: {{ .Pipes.k }}\n"
	want := []string{
		`error operator.yaml:12: plan "make": its Pipe tasks store two files under the key "k", first task "pipe"; give each a key of its own`,
		`warning templates/a.yaml:7: the plan "deploy" uses this template, but none of its Pipe tasks stores .Pipes.k`,
	}
	if diff := cmp.Diff(want, findings(t, content)); diff != "" {
		t.Error(diff)
	}
}

func TestExtendedChecks(t *testing.T) {
	content := valid()
	content["params.yaml"] = "groups: [{name: g, displayName: 'name:'}]\nparameters:\n- {name: greeting, default: hello, description: says hello}\n"
	want := []string{
		`warning params.yaml:3: parameter "greeting" has no displayName`,
		`warning params.yaml:3: parameter "greeting" has no hint`,
		`warning params.yaml:3: parameter "greeting" has a description that does not end with one of .!?)`,
		`warning params.yaml:3: parameter "greeting" has a description that does not begin with a capital letter`,
		`warning params.yaml:3: parameter "greeting" has no type`,
		`warning params.yaml:3: parameter "greeting" has no group`,
		`warning params.yaml:1: group "g" has a displayName that ends with ':'`,
		`warning params.yaml:1: group "g" has a displayName that does not begin with a capital letter`,
		`warning params.yaml:1: group "g" has no description`,
	}
	if diff := cmp.Diff(want, findings(t, content, "all")); diff != "" {
		t.Error(diff)
	}
	if found := findings(t, content, "type"); len(found) != 1 {
		t.Errorf("got %v", found)
	}
	p, err := bundle.Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Package(context.Background(), p, "nope"); err == nil || !strings.Contains(err.Error(), `there is no check "nope"`) {
		t.Errorf("got %v", err)
	}
}

// Packages in the field are valid. They are not part of the repository; KUDO_SHARED says where they are.
func TestRealPackages(t *testing.T) {
	shared := os.Getenv("KUDO_SHARED")
	if shared == "" {
		t.Skip("no real operator packages: set KUDO_SHARED to the folder that holds operators/ and kuttl/")
	}
	// What was seen as a warning is so on purpose.
	warnings := map[string]int{"spark": 1, "crd-operator": 1}
	found := 0
	for _, pattern := range []string{"operators/*", "kuttl/integration/*/*", "kuttl/integration/*/*/*", "kuttl/e2e/*/*"} {
		packages, _ := filepath.Glob(filepath.Join(shared, filepath.FromSlash(pattern), bundle.OperatorFileName))
		for _, file := range packages {
			found++
			p, err := bundle.Read(filepath.Dir(file))
			if err != nil {
				t.Error(err)
				continue
			}
			result, err := verify.Package(context.Background(), p)
			if err != nil || !result.Valid() {
				t.Errorf("%s: %v %v", file, err, result.Errors())
			} else if want := warnings[filepath.Base(filepath.Dir(file))]; len(result.Warnings()) != want {
				t.Errorf("%s: %v", file, result.Warnings())
			}
		}
	}
	if found == 0 {
		t.Skip("no real operator packages; set KUDO_SHARED to the folder that holds operators/ and kuttl/")
	}
}
