// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"errors"
	"strings"
	"testing"
)

var sample = Variables{
	OperatorName: "keyvalue", Name: "kv", Namespace: "team", AppVersion: "7.2", OperatorVersion: "0.1.0",
	PlanName: "deploy", PhaseName: "main", StepName: "apply",
	Params: map[string]any{
		"NODES":                        "3",
		"EMPTY":                        "",
		"LIST":                         []any{"a", "b"},
		"MAP":                          map[string]any{"size": int64(1000000), "deep": map[string]any{"x": "y"}},
		"A_PARAMETER_WITH_A_LONG_NAME": "v",
	},
	Pipes: map[string]string{"cert": "kv-cert"},
}

func TestTemplate(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for _, test := range []struct{ name, text, want string }{
		{"variables", "{{.OperatorName}} {{.Name}} {{.Namespace}} {{.AppVersion}} {{.OperatorVersion}} {{.PlanName}} {{.PhaseName}} {{.StepName}} {{.Params.NODES}} {{.Pipes.cert}}",
			"keyvalue kv team 7.2 0.1.0 deploy main apply 3 kv-cert"},
		{"integers of maps are written plainly", "{{.Params.MAP.size}}", "1000000"},
		{"index asks without an error", `{{index .Params "nope"}}`, "<no value>"},
		{"loop", `{{range $i := until (int .Params.NODES)}}{{$i}},{{end}}`, "0,1,2,"},
		{"define in the same text", `{{define "x"}}<{{.}}>{{end}}{{template "x" .Name}}`, "<kv>"},
		{"list slice of Sprig, not of Go", `{{slice .Params.LIST 1}}`, "[b]"},
		{"variadic", `{{cat "a" "b" .Name}} {{add 1 2 3}} {{printf "%s-%d" .Name 3}}`, "a b kv 6 kv-3"},
		{"toYaml keeps long lines", `{{toYaml (dict "b" "` + long + `" "a" (list 1 2))}}`, "a:\n- 1\n- 2\nb: '" + long + "'\n"},
		{"toYaml of nothing", `{{toYaml (list)}}`, "[]\n"},
		{"errors of functions that are not reached do not count", `{{if false}}{{fail "no"}}{{end}}ok`, "ok"},
		{"break and continue", `{{range until 9}}{{if eq . 1}}{{continue}}{{end}}{{if gt . 3}}{{break}}{{end}}{{.}}{{end}}`, "023"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Template("a.yaml", test.text, sample)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestTemplateErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"parameter", "a\n  {{ .Params.NODE }}", `template "sub/a:1.yaml", line 2, column 12: .Params.NODE: the operator has no parameter "NODE"; add it to params.yaml or correct the name`},
		{"long parameter", "{{ .Params.A_PARAMETER_WITH_A_LONG_NAME_X }}", `.Params.A_PARAMETER_WITH_A_LONG_NAME_X: the operator has no parameter`},
		{"parameter in a condition", "{{ if .Params.X }}{{ end }}", `.Params.X: the operator has no parameter "X"`},
		{"parameter by way of a variable", "{{ $r := . }}{{ $r.Params.X }}", `.Params.X: the operator has no parameter "X"`},
		{"key of a parameter", "{{ .Params.MAP.nope }}", `.Params.MAP.nope: the value has no key "nope"`},
		{"key with the name of a parameter", "{{ .Params.MAP.NODES }}", `the value has no key "NODES"`},
		{"pipe", "{{ .Pipes.key }}", `.Pipes.key: no Pipe task that ran earlier in this plan has the key "key"`},
		{"variable", "{{ .Nmae }}", `.Nmae: there is no variable "Nmae"; there are AppVersion, Name,`},
		{"function of Sprig 3", `{{ get .Params "x" }}`, `line 1: there is no function "get"`},
		{"removed function", `{{ env "HOME" }}`, `there is no function "env"`},
		{"own function", `{{ __step }}`, `there is no function "__step"`},
		{"syntax", "{{ if }}", `template "sub/a:1.yaml", line 1: missing value for if`},
		{"fail", `{{ fail "set NODES" }}`, `error calling fail: set NODES`},
		{"panic of a function", `{{ index .Params.LIST 7 }}`, `out of range`},
		{"panic of Sprig", `{{ b64enc (regexFind "(" "x") }}`, `missing closing`},
		{"other template", `{{ template "other.yaml" }}`, `"other.yaml" not defined`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Template("sub/a:1.yaml", test.text, sample)
			if err == nil {
				t.Fatalf("no error, but %q", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
			var known *Error
			if !errors.As(err, &known) || known.Template != "sub/a:1.yaml" || known.Line == 0 {
				t.Errorf("the error does not say where: %#v", err)
			}
		})
	}
}

func TestPlanVariablesWithoutPlan(t *testing.T) {
	_, err := Template("a.yaml", "{{ .PlanName }}", Variables{Name: "kv"})
	if err == nil || !strings.Contains(err.Error(), "no plan runs") {
		t.Errorf("got %v", err)
	}
}

// Hostile templates end with an error, before their time is up, and without taking the process with them.
func TestTemplateBombs(t *testing.T) {
	double := func(step string) string {
		return `{{ $s := list "xxxxxxxxxxxxxxxx" }}{{ $t := "xxxxxxxxxxxxxxxx" }}{{ range until 60 }}{{ ` + step + ` }}{{ end }}`
	}
	for _, test := range []struct{ name, text string }{
		{"output", `{{ range until 1000000 }}0123456789{{ end }}`},
		{"repeat", `{{ repeat 2000000000 "x" }}`},
		{"repeat a negative count", `{{ repeat -1 "x" }}`},
		{"until", `{{ range until 2000000000 }}{{ end }}`},
		{"untilStep", `{{ range untilStep 0 2000000000 1 }}{{ end }}`},
		{"indent", `{{ indent 2000000000 "x" }}`},
		{"random", `{{ randAlphaNum 2000000000 }}`},
		{"width", `{{ printf "%*d" 2000000000 1 }}{{ fail "no" }}`},
		{"recursion", `{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}`},
		{"recursion that branches", `{{ define "x" }}{{ if lt (len .) 20 }}{{ template "x" (append . 1) }}{{ template "x" (append . 1) }}{{ end }}{{ end }}{{ template "x" (list) }}`},
		{"loops in loops", `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`},
		{"endless growth of a text", double(`$t = print $t $t`)},
		{"endless growth of a list", double(`$s = concat $s $s`)},
		{"nested lists", double(`$s = list $s $s`)},
		{"replace", `{{ $s := repeat 2000000 "x" }}{{ replace "x" $s $s }}`},
		{"regexReplaceAll", `{{ $s := repeat 2000000 "x" }}{{ regexReplaceAll "" $s $s }}`},
		{"join", `{{ join (repeat 2000000 "x") (until 100000) }}`},
		{"map that contains itself", `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`},
		{"map that contains itself by merge", `{{ $a := dict }}{{ $b := dict "x" $a }}{{ $_ := merge $a $b }}{{ $a }}`},
		{"parameters that contain themselves", `{{ $_ := set .Params "x" . }}{{ . }}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Template("bomb.yaml", test.text, sample)
			if err == nil {
				t.Errorf("no error, but %d bytes", len(got))
			}
			if err != nil && strings.Contains(err.Error(), errTime.Error()) {
				t.Error("only the clock stopped it")
			}
			t.Log(err)
		})
	}
}

func TestTemplateDoesNotChangeParameters(t *testing.T) {
	if _, err := Template("a.yaml", `{{ $_ := set .Params.MAP.deep "x" "changed" }}{{ $_ := unset .Params "NODES" }}`, sample); err != nil {
		t.Fatal(err)
	}
	if got, err := Template("b.yaml", `{{ .Params.MAP.deep.x }}{{ .Params.NODES }}`, sample); err != nil || got != "y3" {
		t.Errorf("got %q, %v", got, err)
	}
}
