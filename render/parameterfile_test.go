// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParameterFile(t *testing.T) {
	got, err := ParameterFile("p.yaml", "text: a b\nquoted: \"007\"\nnumber: 1000000\nyes: true\nlist: [b, a]\nmap: {k: {l: 1}}\nempty: \"\"\n")
	want := map[string]string{"text": "a b", "quoted": "007", "number": "1000000", "true": "true", "list": "- b\n- a\n", "map": "k:\n  l: 1\n", "empty": ""}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "# nothing\n", "{}\n"} {
		if got, err := ParameterFile("p.yaml", text); err != nil || len(got) != 0 {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"a: null\nb:\n": `template "p.yaml": parameter "a": it has no value`,
		"- a\n":         `template "p.yaml": it is not a YAML mapping`,
		"a: [\n":        `template "p.yaml": it is not a YAML mapping`,
	} {
		if _, err := ParameterFile("p.yaml", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
