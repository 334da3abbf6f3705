// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package verify_test

import (
	"fmt"
	"strings"

	"kudo.dev/kudo/render"
)

// between says that a line of a template may stand here: not within an action that is longer than a line.
func between(before, after string) bool {
	return strings.Count(before, "{{") == strings.Count(before, "}}") && strings.Count(after, "{{") == strings.Count(after, "}}")
}

// first puts a line at the beginning of a template, where nothing is conditional.
func (m *mutant) first(line string) string {
	name := m.template()
	m.files[name] = line + "\n" + m.files[name]
	return name
}

// onLine is a fault that a line at the beginning of a template makes.
func onLine(name, line string, want ...string) mutation {
	return mutation{name, func(m *mutant) bool {
		file := m.first(line)
		return m.expect(append(want, file+":1:")...)
	}}
}

// inFile is a fault that a line at the beginning of a template makes, and of which the line is not known.
func inFile(name, line string, want ...string) mutation {
	return mutation{name, func(m *mutant) bool { return m.expect(append(want, m.first(line)+":")...) }}
}

var templateMutations = []mutation{
	{"template that does not parse", func(m *mutant) bool {
		name := m.template()
		line := m.insert(name, []string{"{{ if }}", "{{ .Params.x | }}", "{{ nosuchfunction 1 }}", "{{ \"open }}", "{{ .Name ) }}"}[m.IntN(5)], between)
		return line > 0 && m.expect(fmt.Sprintf("%s:%d", name, line))
	}},
	{"condition that does not end", func(m *mutant) bool {
		return m.expect(m.first("{{ if .Name }}")+":", "unexpected EOF")
	}},
	{"parameter that is not defined", func(m *mutant) bool {
		name := m.template()
		use := []string{"# {{ .Params.mutant }}", "# {{ $.Params.mutant }}", "# {{ if false }}{{ .Params.mutant }}{{ end }}", "# {{ .Params.mutant | quote }}"}[m.IntN(4)]
		if strings.Contains(m.files[name], "define") {
			return false
		}
		// Within a loop or with, the dot is another.
		return m.fixed(name, use) && m.expect(name+":1:", `parameter "mutant"`)
	}},
	onLine("variable that is not defined", "# {{ .Mutant }}", ".Mutant"),
	onLine("key that a parameter does not have", "# {{ $m := dict \"a\" 1 }}{{ $m.mutant }}", "mutant"),
	onLine("pipe that nothing stores", "# {{ .Pipes.mutant }}", ".Pipes.mutant"),
	{"key that only a run misses", func(m *mutant) bool {
		name := m.first("# {{ if eq .Name \"prod\" }}{{ $m := dict \"a\" 1 }}{{ $m.mutant }}{{ end }}")
		m.run = &render.Variables{Name: "prod", Namespace: "ns", OperatorName: "o", PlanName: "deploy", PhaseName: "p", StepName: "s"}
		return m.expect(fmt.Sprintf("template %q, line 1", strings.TrimPrefix(name, "templates/")), "mutant")
	}},
	inFile("loop that does not end", "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", "does not end within"),
	inFile("recursion that does not end", `{{ define "m" }}{{ template "m" . }}{{ end }}{{ template "m" . }}`, " end"),
	inFile("text that is too long", `{{ range until 100000 }}{{ repeat 100 "0123456789" }}{{ end }}`, "longer than 3 MiB"),
	inFile("value that is too large", `{{ repeat 2000000000 "x" }}`, "too large"),
	{"actions nested too deep", func(m *mutant) bool {
		n := []int{30_000, 60_000, 90_000}[m.IntN(3)]
		return m.expect(m.first(strings.Repeat("{{if 1}}", n)+strings.Repeat("{{end}}", n)) + ":")
	}},
	{"too many actions", func(m *mutant) bool {
		return m.expect(m.first(strings.Repeat("{{.}}", 250_000)) + ":")
	}},
	{"rendered text is no YAML", func(m *mutant) bool {
		return m.expect(m.first([]string{"a: b: c", "}}{{ \"{{\" }}", "\t- x: y", "\"open: [", "*x: 1"}[m.IntN(5)]) + ":")
	}},
	{"rendered text is no object", func(m *mutant) bool {
		return m.expect(m.first([]string{"- a\n---", "text\n---", "a: b\n---", "apiVersion: v1\nkind: Secret\n---", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x}\n---"}[m.IntN(5)])+":", "rendered with the defaults")
	}},
	{"aliases of aliases in a rendered text", func(m *mutant) bool {
		var bomb strings.Builder
		bomb.WriteString("m0: &m0 [x, x, x, x, x, x, x, x, x, x]\n")
		for i := 1; i < 12; i++ {
			fmt.Fprintf(&bomb, "m%d: &m%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d, ", i-1), 10), ", "))
		}
		return m.expect(m.first(bomb.String()+"---") + ":")
	}},
	{"rendered values nested too deep", func(m *mutant) bool {
		return m.expect(m.first("m: {{ repeat 100000 \"[\" }}\n---") + ":")
	}},
	{"namespace in a template", func(m *mutant) bool {
		return m.expect(m.first("apiVersion: v1\nkind: Namespace\nmetadata: {name: mutant}\n---")+":2:", "kind: Namespace")
	}},
	{"namespaceManifest that is missing", func(m *mutant) bool {
		m.files["operator.yaml"] += "\nnamespaceManifest: mutant.yaml\n"
		return m.expect(fmt.Sprintf("operator.yaml:%d:", m.lineOf("operator.yaml", "namespaceManifest")), "mutant.yaml")
	}},
	{"parameter file of a child", func(m *mutant) bool {
		m.appendTo("operator.yaml", "tasks", "- {name: mutant, kind: KudoOperator, spec: {package: other, parameterFile: mutant.yaml}}")
		m.files["templates/mutant.yaml"] = []string{"- a\n", "a: {{ .PlanName }}\n", "a: b: c\n"}[m.IntN(3)]
		return m.expect("templates/mutant.yaml:")
	}},
}

// fixed puts a line at the beginning of a template.
func (m *mutant) fixed(name, line string) bool {
	m.files[name] = line + "\n" + m.files[name]
	return true
}
