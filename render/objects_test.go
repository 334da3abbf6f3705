// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjects(t *testing.T) {
	const a = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	const b = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"blanks and comments", "\n# nothing\n---\n\n---\n  # here\n", nil},
		{"null", "---\nnull\n---\n~\n", nil},
		{"one", a, []string{"a"}},
		{"two", a + "---\n" + b, []string{"a", "b"}},
		{"leading and trailing markers", "---\n" + a + "---\n" + b + "---\n", []string{"a", "b"}},
		{"markers with blanks and comments", "--- # first\n" + a + "---  \t\n" + b + "--- # end", []string{"a", "b"}},
		{"line ends of Windows", strings.ReplaceAll(a+"---\n"+b, "\n", "\r\n"), []string{"a", "b"}},
		{"end marker", a + "...\n" + b, []string{"a", "b"}},
		{"directive", "%YAML 1.1\n---\n" + a, []string{"a"}},
		{"content after the marker", a + "--- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n" + b, []string{"a", "c", "b"}},
		{"dashes in a text", a + "data:\n  key: |\n    ---\n    -----BEGIN-----\n    --- x\n---\n" + b, []string{"a", "b"}},
		{"List", "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(a, "\n", "\n  ") + "\n- " + strings.ReplaceAll(b, "\n", "\n  "), []string{"a", "b"}},
		{"List in a List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]\n- apiVersion: v1\n  kind: ConfigMapList\n  items: [{metadata: {name: b}}, {apiVersion: v1, kind: Secret, metadata: {name: c}}]\n", []string{"a", "b", "c"}},
		{"kind that ends in List", "apiVersion: x.io/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [{x: y}]\n", []string{"a"}},
		{"empty List", "apiVersion: v1\nkind: List\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := Objects("a.yaml", test.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.GetName())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestObjectsKeepIntegers(t *testing.T) {
	objects, err := Objects("a.yaml", "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {big: 12345678901, mode: 0644, on: yes, f: 1.5, s: '1'}\n")
	if err != nil {
		t.Fatal(err)
	}
	// In YAML 1.1, which Kubernetes reads, "on" is a boolean; as a key it becomes "true".
	want := map[string]any{"big": int64(12345678901), "mode": int64(420), "true": true, "f": 1.5, "s": "1"}
	if diff := cmp.Diff(want, objects[0].Object["spec"]); diff != "" {
		t.Error(diff)
	}
}

func TestObjectsErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n", `template "a.yaml", document 1 (line 1): kind is missing`},
		{"no apiVersion in the second", "---\n# c\n\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n\nkind: B\n", `template "a.yaml", document 2 (line 9): apiVersion is missing`},
		{"no metadata", "apiVersion: v1\nkind: A\n", "A: metadata.name is missing"},
		{"empty name", "apiVersion: v1\nkind: A\nmetadata: {name: ''}\n", "A: metadata.name is empty"},
		{"number as name", "apiVersion: v1\nkind: A\nmetadata: {name: 12}\n", "A: metadata.name is the number 12; write it in quotes"},
		{"boolean as namespace", "apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: no}\n", "A: metadata.namespace is the boolean false; write it in quotes"},
		{"generateName", "apiVersion: v1\nkind: A\nmetadata: {generateName: a-}\n", "A has metadata.generateName; give it metadata.name instead"},
		{"metadata of the wrong kind", "apiVersion: v1\nkind: A\nmetadata: [a]\n", "metadata is a list, not a mapping"},
		{"a list", "- a\n", "it is a list, not a Kubernetes object"},
		{"a text", "hello\n", "it is text, not a Kubernetes object"},
		{"not YAML, line of the whole text", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\na: b\nc: [\n", `document 2 (line 5): it is not valid YAML: yaml: line 6`},
		{"value that looks like an alias", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\na: b\npassword: *hunter2\n", `template "a.yaml", document 2 (line 5): it is not valid YAML: yaml: unknown anchor; a value that begins with * must be quoted`},
		{"item of a List", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A, metadata: {name: a}}, {kind: B}]\n", "document 1 (line 1), items[1]: apiVersion is missing"},
		{"items of the wrong kind", "apiVersion: v1\nkind: List\nitems: {}\n", "items of the List is a mapping"},
		{"marker with something behind it", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---foo\nkind: B\n", "it is not valid YAML"},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := Objects("a.yaml", test.text)
			if err == nil {
				t.Fatalf("no error, but %d objects", len(objects))
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells a value: %s", err)
			}
		})
	}
}

func FuzzObjects(f *testing.F) {
	f.Add("apiVersion: v1\nkind: List\nitems: [{}]\n---\n# x\n--- {a: b}\n...")
	f.Add("a: &a [*a]")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Objects("fuzz.yaml", text)
	})
}

func FuzzTemplate(f *testing.F) {
	f.Add(`{{ range until 3 }}{{ .Params.x }}{{ end }}`)
	f.Add(`{{ $d := dict "a" 1 }}{{ set $d "b" $d | toJson }}`)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = Template("fuzz.yaml", text, sample)
	})
}
