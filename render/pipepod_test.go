// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"strings"
	"testing"
)

func TestPipePod(t *testing.T) {
	for _, text := range []string{
		"apiVersion: v1\nkind: Pod\nspec: {}\n",
		"# comment\n---\nspec: {}\n",
		"metadata: {name: x}\nspec: {}\n---\n",
	} {
		pod, err := PipePod("pod.yaml", text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		pod.SetName("given")
		if pod.GetKind() != "Pod" || pod.GetAPIVersion() != "v1" || pod.GetName() != "given" {
			t.Errorf("%q: got %v", text, pod.Object)
		}
	}
}

func TestPipePodErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"\n", `template "pod.yaml": it is empty`},
		{"kind: Job\n", `document 1 (line 1): a Pipe task needs a Pod of apiVersion v1, but kind is Job`},
		{"kind: Pod\n---\nkind: Pod\n", `document 2 (line 3): a Pipe task runs one pod`},
		{"- a\n", "it is a list, not a Pod"},
		{"metadata: x\n", "metadata is text"},
		{"a: [\n", "it is not valid YAML"},
	} {
		_, err := PipePod("pod.yaml", test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}
