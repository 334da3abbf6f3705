// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"reflect"
	"testing"
)

func TestVarying(t *testing.T) {
	v := Variables{Name: "x", Params: map[string]any{"m": map[string]any{"b": 1, "a": 2, "c": 3}}}
	for _, test := range []struct {
		text string
		want bool
	}{
		{"plain", false},
		{`{{ .Name | upper | sha256sum }}`, false},
		{`{{ keys .Params.m | join "," }}{{ values .Params.m }}`, false},
		{`{{ if false }}{{ now }}{{ end }}`, false},
		{`{{ derivePassword 1 "long" "p" "u" "x.org" }}`, false},
		{`{{ dateInZone "2006" 0 "UTC" }}{{ htmlDateInZone 0 "UTC" }}`, false},
		{`{{ dateInZone "2006" "today" "UTC" }}`, true},
		{`{{ date "2006" 0 }}`, true},
		{`{{ now | unixEpoch }}`, true},
		{`{{ randAlphaNum 3 }}`, true},
		{`{{ "abc" | shuffle }}`, true},
		{`{{ uuidv4 }}`, true},
		{`{{ (genSelfSignedCert "x" nil nil 1).Cert }}`, true},
		{`{{ encryptAES "k" "t" }}`, true},
		{`{{ define "p" }}{{ uuidv4 }}{{ end }}{{ template "p" }}`, true},
	} {
		if _, varies, err := Varying("t.yaml", test.text, v); err != nil || varies != test.want {
			t.Errorf("%s: varies %v, error %v; want %v", test.text, varies, err, test.want)
		}
	}
	if _, varies, err := Varying("t.yaml", `{{ uuidv4 }}{{ .Params.nope }}`, v); err == nil || !varies {
		t.Errorf("an error after a random function: varies %v, error %v", varies, err)
	}
}

// TestMapsHaveAnOrder: the order of Sprig's keys and values differs from call to call.
func TestMapsHaveAnOrder(t *testing.T) {
	v := Variables{Params: map[string]any{"m": map[string]any{"b": 1, "a": 2, "c": 3, "e": 5, "d": 4}}}
	for range 20 {
		got, err := Template("t.yaml", `{{ keys .Params.m (dict "z" 1 "y" 2) | join "" }} {{ values .Params.m | join "" }}`, v)
		if want := "abcdeyz 21345"; err != nil || got != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
}

// TestVaryingFunctionsExist: observed calls them without a list of variadic arguments.
func TestVaryingFunctionsExist(t *testing.T) {
	funcs := functions()
	for name := range varying {
		if f, ok := funcs[name]; !ok || reflect.TypeOf(f).IsVariadic() {
			t.Errorf("%s: does not exist or is variadic", name)
		}
	}
}
