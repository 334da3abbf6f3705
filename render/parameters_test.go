// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

func TestParameters(t *testing.T) {
	def := func(name string, kind v1beta1.ParameterType, value string) v1beta1.Parameter {
		return v1beta1.Parameter{Name: name, Type: kind, Default: &value}
	}
	for _, test := range []struct {
		name          string
		def           v1beta1.Parameter
		instance, run map[string]string
		want          any
	}{
		{"neither value nor default", v1beta1.Parameter{Name: "p"}, nil, nil, ""},
		{"default", def("p", "", "d"), nil, nil, "d"},
		{"instance wins over default", def("p", "", "d"), map[string]string{"p": "i"}, nil, "i"},
		{"run wins over instance", def("p", "", "d"), map[string]string{"p": "i"}, map[string]string{"p": "r"}, "r"},
		{"empty is a value", def("p", "", "d"), map[string]string{"p": ""}, nil, ""},
		{"integers stay text", def("p", v1beta1.IntegerValueType, "3"), nil, nil, "3"},
		{"booleans stay text", def("p", v1beta1.BooleanValueType, "true"), nil, nil, "true"},
		{"unknown type is text", def("p", "colour", "[a]"), nil, nil, "[a]"},
		{"array", def("p", v1beta1.ArrayValueType, "- a\n- 1000000\n"), nil, nil, []any{"a", int64(1000000)}},
		{"array of null, as packages without default have it", def("p", v1beta1.ArrayValueType, "null\n"), nil, nil, []any(nil)},
		{"empty array", v1beta1.Parameter{Name: "p", Type: v1beta1.ArrayValueType}, nil, nil, []any(nil)},
		{"map", def("p", v1beta1.MapValueType, "a: {b: 1, 2: c}"), nil, nil, map[string]any{"a": map[string]any{"b": int64(1), "2": "c"}}},
		{"empty map", v1beta1.Parameter{Name: "p", Type: v1beta1.MapValueType}, nil, nil, nil},
		{"map of another kind is not checked here", def("p", v1beta1.MapValueType, "x"), nil, nil, "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parameters([]v1beta1.Parameter{test.def}, test.instance, test.run)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]any{"p": test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParametersIgnoresWhatIsNotDefined(t *testing.T) {
	got, err := Parameters(nil, map[string]string{"x": "1"}, map[string]string{"y": "[a"})
	if err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestParametersErrors(t *testing.T) {
	defs := []v1beta1.Parameter{{Name: "LIST", Type: v1beta1.ArrayValueType}, {Name: "MAP", Type: v1beta1.MapValueType}}
	for _, test := range []struct {
		instance, run map[string]string
		want          string
	}{
		{map[string]string{"LIST": "a"}, nil, `parameter "LIST": the value of the Instance cannot be read as YAML of type array: it is text, not a list`},
		{nil, map[string]string{"MAP": "a: ["}, `parameter "MAP": the value of the run cannot be read as YAML of type map: `},
	} {
		_, err := Parameters(defs, test.instance, test.run)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}
