// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"encoding/hex"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

var dependent = Identity{Namespace: "ns", Instance: "depop", Operator: "dep-operator", InstanceUID: "u", RunUID: "r", OperatorVersion: "1"}

func configData(t *testing.T, a, b string, annotations string) *unstructured.Unstructured {
	cm := object(t, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: configdata, annotations: {%s}}\ndata: {valueA: %s, valueB: %s}", annotations, a, b))
	if err := Prepare(cm, true, dependent); err != nil {
		t.Fatal(err)
	}
	return cm
}

func hashOf(t *testing.T, siblings []*unstructured.Unstructured, live ...runtime.Object) string {
	t.Helper()
	c := &Client{Dynamic: dynamicfake.NewSimpleDynamicClient(scheme.Scheme, live...)}
	sts := object(t, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {template: {spec: {volumes: [{name: v, configMap: {name: configdata}}]}}}")
	if err := Prepare(sts, true, dependent); err != nil {
		t.Fatal(err)
	}
	if err := c.MarkDependencies(context.Background(), sts, siblings); err != nil {
		t.Fatal(err)
	}
	h, _, _ := unstructured.NestedString(sts.Object, "spec", "template", "metadata", "annotations", AnnotationDependenciesHash)
	return h
}

// TestDependenciesHash has the values that KUDO 0.19 computed.
func TestDependenciesHash(t *testing.T) {
	for _, c := range []struct{ a, b, inner, want string }{
		{"FancyValue", "OtherFancyValue", "72bc36069158061c5778f2775033c688", "6fa812afe527bdb6c9a5fbfcba8193bb"},
		{"ChangedValue", "OtherFancyValue", "8dad2a77855345ee5520cf86979c2028", "da9f56a62d3c4af2596bebace008d845"},
		{"ChangedValue", "SecondChangedValue", "59d21693601b97917b64e8bb8fdfc22f", "1510654b540619228b477bdd56d44175"},
	} {
		cm := configData(t, c.a, c.b, "")
		if sum, err := contentSum(cm); err != nil || hex.EncodeToString(sum[:]) != c.inner {
			t.Errorf("%s: inner %x %v", c.a, sum, err)
		}
		if got := hashOf(t, []*unstructured.Unstructured{cm}); got != c.want {
			t.Errorf("%s among the siblings: %s", c.a, got)
		}
		if err := setLastApplied(cm); err != nil {
			t.Fatal(err)
		}
		cm.Object["data"] = map[string]any{"changed": "by somebody"}
		if got := hashOf(t, nil, cm); got != c.want {
			t.Errorf("%s in the cluster: %s", c.a, got)
		}
	}
}

func TestDependenciesThatDoNotCount(t *testing.T) {
	absent := hashOf(t, nil)
	if absent != hexSum(make([]byte, 16)) {
		t.Errorf("absent: %s", absent)
	}
	if got := hashOf(t, []*unstructured.Unstructured{configData(t, "a", "b", AnnotationSkipHash+": \"true\"")}); got != absent {
		t.Errorf("skipped: %s", got)
	}
	c := &Client{Dynamic: dynamicfake.NewSimpleDynamicClient(scheme.Scheme)}
	for _, text := range []string{"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{configMap: {name: x}}]}", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: text}"} {
		obj := object(t, text)
		before := show(t, obj)
		if err := c.MarkDependencies(context.Background(), obj, nil); err != nil || show(t, obj) != before {
			t.Errorf("%v: %s", err, show(t, obj))
		}
	}
}

func TestDependenciesOf(t *testing.T) {
	got := dependenciesOf(object(t, "kind: T\nspec: {imagePullSecrets: [{name: z}], volumes: [{secret: {secretName: a}}, {configMap: {name: m}}, {emptyDir: {}}, {configMap: {name: c}}, {configMap: {name: c}}]}").Object)
	if want := "[{ConfigMap c} {ConfigMap c} {ConfigMap m} {Secret a} {Secret z}]"; fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
}
