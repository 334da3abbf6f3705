// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseParameters(t *testing.T) {
	first := writeFile(t, "a: 1\nb: 1000000\nc: yes\nd: [x, 2]\ne: {v: {z: 1}}\nf: ''\ng: \"0.10\"\nh: 0.10\n")
	second := writeFile(t, "a: from the second\n")
	got, err := parseParameters([]string{"c=flag", "i=x=y"}, []string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "from the second", "b": "1000000", "c": "flag", "d": "- x\n- 2\n", "e": "v:\n  z: 1\n", "f": "", "g": "0.10", "h": "0.1", "i": "x=y"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseParametersErrors(t *testing.T) {
	list, null := writeFile(t, "- a\n"), writeFile(t, "a: null\nb: 1\n")
	for _, test := range []struct {
		pairs, files []string
		want         string
	}{
		{[]string{"nokey", "=v", "a="}, nil, "could not parse parameters: parameter not set: nokey, parameter name can not be empty: =v, parameter value can not be empty: a="},
		{nil, []string{"nowhere.yaml"}, "could not parse parameters: cannot read the parameter file: open nowhere.yaml"},
		{nil, []string{list}, "is not a YAML mapping of names to values"},
		{nil, []string{null}, `"a" has a null value, which is not supported`},
	} {
		_, err := parseParameters(test.pairs, test.files)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func TestMissingParameters(t *testing.T) {
	yes, no, value := true, false, ""
	defs := []v1beta1.Parameter{{Name: "a", Required: &yes}, {Name: "b", Required: &yes, Default: &value}, {Name: "c", Required: &no}, {Name: "d"}, {Name: "e", Required: &yes}, {Name: "f", Required: &yes}}
	if diff := cmp.Diff([]string{"a", "f"}, missingParameters(defs, map[string]string{"e": "x"})); diff != "" {
		t.Error(diff)
	}
}

func TestCheckKubernetesVersion(t *testing.T) {
	for _, test := range []struct{ needed, server, want string }{
		{"1.25.0", "v1.25.0", ""},
		{"1.36.9", "v1.36.3-eks-1234", ""},
		{"1.1", "v1.36.3+k3s1", ""},
		{"1.99.0", "v1.36.3", "expected kubernetes version of 1.99.0 is not supported with version: 1.36.3"},
		{"2.0.0", "v1.36.3", "expected kubernetes version of 2.0.0"},
		{"", "v1.36.3", "unable to parse operators kubernetes version: "},
		{"1.25.0", "devel", `the cluster has the version "devel"`},
	} {
		err := checkKubernetesVersion(test.needed, test.server)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s on %s: got %v, want %q", test.needed, test.server, err, test.want)
		}
	}
}
