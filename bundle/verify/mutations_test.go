// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify_test

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mutation is a kind of fault. Apply says whether the package could get it.
type mutation struct {
	name  string
	apply func(*mutant) bool
}

// mutations are all kinds of faults. Those of archives are in mutations_archive_test.go, those of templates in
// mutations_template_test.go.
var mutations = slices.Concat(yamlMutations, templateMutations, archiveMutations)

// yamlFiles are the two files of which the format knows every field.
var yamlFiles = []string{"operator.yaml", "params.yaml"}

var yamlMutations = []mutation{
	{"typo in a field", func(m *mutant) bool {
		file := yamlFiles[m.IntN(2)]
		k := m.pickKey(m.document(file), func(k key) bool {
			return !slices.Contains([]string{"description", "displayName", "hint", "url", "email", "kudoVersion"}, k.node.Value)
		})
		if k == nil {
			return false
		}
		word := k.node.Value
		i := m.IntN(len(word) - 1)
		typos := []string{word[:i] + word[i+1:], word[:i] + word[i:i+1] + word[i:], word[:i] + "x" + word[i+1:], word + "s"}
		if word[i] != word[i+1] {
			typos = append(typos, word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
		typo := typos[m.IntN(len(typos))]
		// A typo may be another field, or the same in other case.
		if strings.EqualFold(typo, word) || slices.Contains([]string{"groups", "tasks", "group", "pipe", "name"}, typo) {
			return false
		}
		m.edit(file, k.node.Line, word+":", typo+":")
		return m.expect(fmt.Sprintf("%s:%d:", file, k.node.Line), typo)
	}},
	{"wrong type", func(m *mutant) bool {
		file := yamlFiles[m.IntN(2)]
		document := m.document(file)
		k := m.pickKey(document, func(k key) bool { return k.node.Value != "default" && k.with.ShortTag() != "!!null" })
		if k == nil {
			return false
		}
		wrong := "{a: b}"
		switch k.with.Kind {
		case yaml.MappingNode:
			wrong = []string{"[1]", "text"}[m.IntN(2)]
		case yaml.SequenceNode:
			wrong = []string{"{a: b}", "text", "7"}[m.IntN(3)]
		case yaml.ScalarNode:
			wrong = []string{"{a: b}", "[1, 2]"}[m.IntN(2)]
		}
		var with yaml.Node
		if err := yaml.Unmarshal([]byte(wrong), &with); err != nil {
			m.t.Fatal(err)
		}
		*k.with = *with.Content[0]
		path := k.path
		m.store(file, document)
		return m.expect(fmt.Sprintf("%s:%d:", file, m.lineAt(file, path)), "but has to be")
	}},
	{"boolean in quotes", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: mutant, required: \"perhaps\"}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "perhaps")), "true or false")
	}},
	{"unknown task kind", func(m *mutant) bool {
		document := m.document("operator.yaml")
		k := m.pickKey(document, func(k key) bool { return k.node.Value == "kind" && len(k.path) == 3 })
		m.edit("operator.yaml", k.with.Line, k.with.Value, []string{"Exec", "apply", "Aply", "Kubectl"}[m.IntN(4)])
		return m.expect(fmt.Sprintf("operator.yaml:%d:", k.with.Line), "there is no task kind")
	}},
	{"task that is not defined", func(m *mutant) bool {
		document := m.document("operator.yaml")
		k := m.pickKey(document, func(k key) bool {
			return k.node.Value == "tasks" && len(k.path) > 2 && len(k.with.Content) > 0
		})
		entry := k.with.Content[m.IntN(len(k.with.Content))]
		m.edit("operator.yaml", entry.Line, entry.Value, "mutant")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", entry.Line), `the task "mutant"`)
	}},
	{"two tasks of one name", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: Dummy, spec: {done: true}}\n- {name: mutant, kind: Dummy, spec: {wantErr: true}}")
		return m.expect("operator.yaml:", `task "mutant" is defined twice`)
	}},
	{"template that is missing", func(m *mutant) bool {
		name := m.template()
		delete(m.files, name)
		return m.expect("operator.yaml:", `there is no template "`+strings.TrimPrefix(name, "templates/"))
	}},
	{"operators that need each other", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: KudoOperator, spec: {package: ./mutant}}")
		m.files["mutant/operator.yaml"] = "name: other\noperatorVersion: 1.0.0\nkubernetesVersion: 1.25.0\ntasks:\n- name: back\n  kind: KudoOperator\n  spec:\n    package: ..\n"
		m.files["mutant/params.yaml"] = ""
		return m.expect("operator.yaml:", "cyclic package dependency", "other-1.0.0")
	}},
	{"operator that needs itself", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: KudoOperator, spec: {package: ./}}")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "package: ./")), "cyclic package dependency")
	}},
	{"child that is missing", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: KudoOperator, spec: {package: ./nowhere}}")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "./nowhere")), "there is no operator package")
	}},
	{"child with a fault", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: KudoOperator, spec: {package: ./mutant}}")
		m.files["mutant/operator.yaml"] = "name: other\noperatorVersion: [1]\n"
		m.files["mutant/params.yaml"] = ""
		return m.expect("operator.yaml:2:18: operatorVersion is a list, but has to be text")
	}},
	{"key that is there twice", func(m *mutant) bool {
		k := m.pickKey(m.document("operator.yaml"), func(k key) bool {
			return k.with.Kind == yaml.ScalarNode && k.with.Style == 0 && k.node.Line == k.with.Line && k.node.Column > 1 && k.with.Value != ""
		})
		if k == nil {
			return false
		}
		lines := strings.Split(m.files["operator.yaml"], "\n")
		if strings.ContainsAny(lines[k.node.Line-1], "{[") {
			return false
		}
		again := strings.Repeat(" ", k.node.Column-1) + k.node.Value + ": " + k.with.Value
		m.files["operator.yaml"] = strings.Join(slices.Insert(lines, k.node.Line, again), "\n")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", k.node.Line+1), "is there twice")
	}},
	{"two parameters of one name", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: mutant, trigger: deploy}\n- {name: Mutant, trigger: deploy}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "Mutant")), "has a duplicate")
	}},
	{"trigger that is not defined", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: mutant, trigger: nothing}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "nothing")), `plan "nothing" used in parameter "mutant" is not defined`)
	}},
	{"name of a parameter", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: \"a,b\", trigger: deploy}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "a,b")), "invalid character")
	}},
	{"default of another type", func(m *mutant) bool {
		wrong := []string{"integer, default: x1", "integer, default: 99999999999999999999", "number, default: one", "boolean, default: perhaps", "array, default: {a: b}", "map, default: [a]", "integer, default: 1.5"}
		m.appendTo("params.yaml", "parameters", "- {name: mutant, trigger: deploy, type: "+wrong[m.IntN(len(wrong))]+"}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "mutant")), `parameter "mutant": default`)
	}},
	{"default that is not allowed", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: mutant, trigger: deploy, enum: [a, b], default: c}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "mutant")), `parameter "mutant": default`)
	}},
	{"type that there is not", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: mutant, trigger: deploy, type: list}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "mutant")), `there is no type "list"`)
	}},
	{"number that is too large", func(m *mutant) bool {
		what := []string{"groups|- {name: mutant, prio: 99999999999999999999999}", "groups|- {name: mutant, prio: 1.5e999}", "parameters|- {name: mutant, default: .inf}", "parameters|- {name: mutant, type: integer, trigger: deploy, default: 1e99999}"}
		top, text, _ := strings.Cut(what[m.IntN(len(what))], "|")
		m.appendTo("params.yaml", top, text)
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "mutant")))
	}},
	{"name of a plan", func(m *mutant) bool {
		name := []string{"Back_up", "back.up", "-x", strings.Repeat("a", 64)}[m.IntN(4)]
		document := m.document("operator.yaml")
		k := m.pickKey(document, func(k key) bool { return k.node.Value == "plans" && len(k.path) == 1 })
		k.with.Content = append(k.with.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &yaml.Node{Kind: yaml.MappingNode})
		m.store("operator.yaml", document)
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", name+":")), "DNS label")
	}},
	{"no plan deploy", func(m *mutant) bool {
		m.edit("operator.yaml", m.lineOf("operator.yaml", "\n  deploy:")+1, "deploy:", "install:")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "\nplans:")+1), `no plan "deploy"`)
	}},
	{"strategy that there is not", func(m *mutant) bool {
		k := m.pickKey(m.document("operator.yaml"), func(k key) bool { return k.node.Value == "strategy" })
		if k == nil {
			return false
		}
		m.edit("operator.yaml", k.with.Line, k.with.Value, "sequential")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", k.with.Line), `there is no strategy "sequential"`)
	}},
	{"two steps of one name", func(m *mutant) bool {
		document := m.document("operator.yaml")
		k := m.pickKey(document, func(k key) bool {
			return (k.node.Value == "steps" || k.node.Value == "phases") && len(k.with.Content) > 0
		})
		k.with.Content = append(k.with.Content, k.with.Content[0])
		m.store("operator.yaml", document)
		return m.expect("operator.yaml:", "which another one has too")
	}},
	{"Toggle without its parameter", func(m *mutant) bool {
		template := strings.TrimPrefix(m.template(), "templates/")
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: Toggle, spec: {resources: ["+template+"], parameter: nothing}}")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "mutant")), `parameter "nothing"`)
	}},
	{"Toggle of what is no boolean", func(m *mutant) bool {
		template := strings.TrimPrefix(m.template(), "templates/")
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: Toggle, spec: {resources: ["+template+"], parameter: mutant}}")
		m.appendTo("params.yaml", "parameters", "- {name: mutant, "+[]string{"default: perhaps", "type: array, default: []", "type: string, default: \"\""}[m.IntN(3)]+"}")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "mutant")), `parameter "mutant"`)
	}},
	{"task without templates", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: "+[]string{"Apply", "Delete"}[m.IntN(2)]+", spec: {}}")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "mutant")), "needs at least one template")
	}},
	{"Pipe", func(m *mutant) bool {
		m.files["templates/mutant.yaml"] = "apiVersion: v1\nkind: Pod\n"
		pipe := []string{"", "{kind: Secret, key: k}", "{file: /a, envFile: /b, kind: Secret, key: k}", "{file: /a, kind: Pod, key: k}", "{file: /a, kind: Secret, key: \"a.b\"}"}[m.IntN(5)]
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: Pipe, spec: {pod: mutant.yaml, pipe: ["+pipe+"]}}")
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "mutant")), "spec.pipe")
	}},
	{"version", func(m *mutant) bool {
		k := m.pickKey(m.document("operator.yaml"), func(k key) bool {
			return (k.node.Value == "operatorVersion" || k.node.Value == "kubernetesVersion") && len(k.path) == 1
		})
		m.edit("operator.yaml", k.with.Line, k.with.Value, []string{"latest", "1.x", "1.0.0.0"}[m.IntN(3)])
		return m.expect(fmt.Sprintf("operator.yaml:%d:", k.with.Line), "must be semver")
	}},
	{"apiVersion", func(m *mutant) bool {
		file := yamlFiles[m.IntN(2)]
		m.files[file] = "apiVersion: kudo.dev/v2\n" + strings.Replace(m.files[file], "apiVersion: kudo.dev/v1beta1", "", 1)
		return m.expect(file+":1:", "is not supported")
	}},
	{"group that is not defined", func(m *mutant) bool {
		m.appendTo("params.yaml", "parameters", "- {name: mutant, trigger: deploy, group: nothing}")
		return m.expect(fmt.Sprintf("params.yaml:%d:", m.lineOf("params.yaml", "mutant")), "group")
	}},
	{"no valid YAML", func(m *mutant) bool {
		file := yamlFiles[m.IntN(2)]
		line := m.insert(file, []string{"\t- x", "}}", "a: b: c", "\"open", "@x: 1"}[m.IntN(5)], func(before, after string) bool {
			return !strings.Contains(before+after, "|") && !strings.Contains(before+after, ">")
		})
		return line > 0 && m.expect(file+":")
	}},
	{"invalid UTF-8", func(m *mutant) bool {
		name := slices.Concat(yamlFiles, []string{m.template()})[m.IntN(3)]
		line := m.insert(name, "# \xff\xfe", nil)
		return line > 0 && m.expect(fmt.Sprintf("%s:%d:3:", name, line), "UTF-8")
	}},
	{"aliases of aliases", func(m *mutant) bool {
		file := yamlFiles[m.IntN(2)]
		var bomb strings.Builder
		bomb.WriteString("mutant0: &mutant0 [x, x, x, x, x, x, x, x, x, x]\n")
		for i := 1; i < 12; i++ {
			fmt.Fprintf(&bomb, "mutant%d: &mutant%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*mutant%d, ", i-1), 10), ", "))
		}
		m.files[file] += "\n" + bomb.String()
		return m.expect(file+":", "aliases")
	}},
	{"nested too deep", func(m *mutant) bool {
		deep := []int{200, 9_000, 40_000, 300_000}[m.IntN(4)]
		m.files["params.yaml"] += "\ngroups: " + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "\n"
		return m.expect("params.yaml")
	}},
	{"nothing but commas", func(m *mutant) bool {
		m.files["params.yaml"] += "\nmutant: [" + strings.Repeat("1,", 700_000) + "]\n"
		return m.expect("params.yaml", "values")
	}},
}
