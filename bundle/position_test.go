// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLine(t *testing.T) {
	content := minimal()
	content["operator.yaml"] = "name: x\noperatorVersion: 1.0.0\nTasks:\n- &a\n  name: a\n  spec: {resources: [\n    a.yaml,\n    b.yaml]}\n- *a\n"
	p, err := Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path []any
		want int
	}{
		{nil, 1},
		{[]any{"operatorVersion"}, 2},
		{[]any{"tasks", 0, "name"}, 5},
		{[]any{"tasks", 0, "spec", "resources", 1}, 8},
		{[]any{"tasks", 1}, 9},
		{[]any{"tasks", 0, "spec", "nothing", 3}, 6},
		{[]any{"plans", "deploy"}, 1},
	} {
		if got := p.Line(OperatorFileName, test.path...); got != test.want {
			t.Errorf("%v: got %d, want %d", test.path, got, test.want)
		}
	}
	if got := p.Line(ParamsFileName, "parameters", 0); got != 0 {
		t.Errorf("an empty file has line %d", got)
	}
}

func TestMistakesFollowMerges(t *testing.T) {
	content := minimal()
	content["params.yaml"] = "x: &base\n  default: &d [a]\n  descripton: x\nparameters:\n- <<: *base\n  name: a\n- {<<: [*base], name: b, requierd: false}\n"
	p, err := Read(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, mistake := range p.Mistakes() {
		got = append(got, mistake.Error())
	}
	want := []string{
		`params.yaml:1:1: the file: there is no field "x", so it has no effect; there are apiVersion, groups, parameters`,
		`params.yaml:3:3: parameters[0]: there is no field "descripton"; did you mean "description"?`,
		`params.yaml:3:3: parameters[1]: there is no field "descripton"; did you mean "description"?`,
		`params.yaml:7:26: parameters[1]: there is no field "requierd"; did you mean "required"?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"name", "displayName", "description", "default", "enum", "type", "required", "immutable", "group", "hint", "prio", "tasks", "operatorVersion", "appVersion", "kudoVersion"}
	// An exclamation mark stands for a name that is surely meant.
	for written, want := range map[string]string{"nmae": "name!", "display-name": "displayName!", "defaults": "default!", "tpye": "type!", "nam": "name!", "naame": "name!",
		"requierd": "required!", "imutabel": "immutable!", "groups": "group!", "operatrVersion": "operatorVersion!", "kubeVersion": "kudoVersion!",
		"version": "appVersion", "mutable": "immutable", "grouping": "group", "defaultValue": "default",
		"home": "", "tags": "", "note": "", "tip": "", "colour": "", "x": "", "": "", strings.Repeat("ü", 1000): ""} {
		got, sure := nearest(written, known)
		if sure {
			got += "!"
		}
		if got != want {
			t.Errorf("%.20q: got %q, want %q", written, got, want)
		}
	}
}

// Whatever operator.yaml holds, reading it ends with a package or with faults that name the file.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"name: x", "a: [", "tasks: {}", "? [a]: b", "<<: [*a]", "a: &a [*a]", "- &a\n- *a", "!!binary x", "\xff", "tasks:\n- <<: 1\n", "plans: {deploy: {phases: [{steps: [1]}]}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(files{OperatorFileName: []byte(text), ParamsFileName: []byte(text)})
		if err != nil {
			if !strings.Contains(err.Error(), OperatorFileName) && !strings.Contains(err.Error(), ParamsFileName) {
				t.Error(err)
			}
			return
		}
		p.Mistakes()
	})
}
