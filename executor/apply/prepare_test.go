// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/executor/fault"
)

var id = Identity{Namespace: "ns", Instance: "zk", InstanceUID: "iuid", Operator: "zookeeper", OperatorVersion: "1.2.3", RunUID: "run",
	Plan: "deploy", Phase: "p", Step: "s"}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	obj := &unstructured.Unstructured{}
	if err == nil {
		err = obj.UnmarshalJSON(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func show(t *testing.T, obj *unstructured.Unstructured) string {
	t.Helper()
	out, err := yaml.Marshal(obj.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

const (
	metaText = "annotations: {kudo.dev/last-plan-execution-uid: run, kudo.dev/phase: p, kudo.dev/plan: deploy, kudo.dev/step: s}"
	labels   = "labels: {heritage: kudo, kudo.dev/instance: zk, kudo.dev/operator: zookeeper}"
	owner    = "ownerReferences: [{apiVersion: kudo.dev/v1beta1, kind: Instance, name: zk, uid: iuid, controller: true, blockOwnerDeletion: true}]"
	tmpl     = "metadata: {annotations: {kudo.dev/operator-version: 1.2.3}, labels: {heritage: kudo, kudo.dev/instance: zk, kudo.dev/operator: zookeeper}}"
)

func TestPrepare(t *testing.T) {
	for _, c := range []struct {
		name, in   string
		namespaced bool
		want       string
	}{
		{"namespaced", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other, creationTimestamp: null}\ndata: {x: y}", true,
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, " + metaText + ", " + labels + ", " + owner + "}\ndata: {x: y}"},
		{"cluster scoped", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: other}", false,
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: a, " + strings.Replace(metaText, "{", "{kudo.dev/instance-uid: iuid, ", 1) + ", " + labels + "}"},
		{"keeps what is there", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: y}, annotations: null, ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u}]}", true,
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, " + metaText + ", labels: {x: y, heritage: kudo, kudo.dev/instance: zk, kudo.dev/operator: zookeeper}, " +
				"ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u}, {apiVersion: kudo.dev/v1beta1, kind: Instance, name: zk, uid: iuid, controller: true, blockOwnerDeletion: true}]}"},
		{"stateful set", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: {name: d}}, {spec: {}}]}", true,
			"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a, namespace: ns, " + metaText + ", " + labels + ", " + owner + "}\nspec: {selector: {matchLabels: {a: b}}, template: {" + tmpl + "}, " +
				"volumeClaimTemplates: [{metadata: {name: d, " + labels + "}}, {spec: {}, metadata: {" + labels + "}}]}"},
		{"cron job", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {jobTemplate: {spec: {template: {spec: {}}}}}", true,
			"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a, namespace: ns, " + metaText + ", " + labels + ", " + owner + "}\nspec: {jobTemplate: {spec: {template: {spec: {}, " + tmpl + "}}}}"},
		{"job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {}}}", true,
			"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: ns, " + metaText + ", " + labels + ", " + owner + "}\nspec: {template: {spec: {}, " + tmpl + "}}"},
		{"a template of the wrong type is left to the server", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: text}", true,
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns, " + metaText + ", " + labels + ", " + owner + "}\nspec: {template: text}"},
		{"a template of a custom resource is none", "apiVersion: x.io/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {}}", true,
			"apiVersion: x.io/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns, " + metaText + ", " + labels + ", " + owner + "}\nspec: {template: {}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			obj := object(t, c.in)
			if err := Prepare(obj, c.namespaced, id); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(show(t, object(t, c.want)), show(t, obj)); d != "" {
				t.Error(d)
			}
			again := obj.DeepCopy()
			if err := Prepare(again, c.namespaced, id); err != nil || !cmp.Equal(obj, again) {
				t.Errorf("a second time changed it: %v %s", err, cmp.Diff(obj, again))
			}
		})
	}
}

func TestPrepareRefuses(t *testing.T) {
	for want, in := range map[string]string{
		"StatefulSet other":    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: other, uid: u, controller: true}]}",
		"has no metadata.name": "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}",
	} {
		err := Prepare(object(t, in), true, id)
		if reason, final := fault.Classify(err); !final || reason != fault.ReasonEnhancement || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
}

func TestLastApplied(t *testing.T) {
	obj := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {x: z, kudo.dev/last-applied-configuration: old}}\ndata: {b: \"<1>\"}")
	if err := setLastApplied(obj); err != nil {
		t.Fatal(err)
	}
	text := obj.GetAnnotations()[AnnotationLastApplied]
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil || strings.ContainsAny(text, "\n") || strings.Contains(text, "last-applied") {
		t.Fatalf("%v: %s", err, text)
	}
	want := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "annotations": map[string]any{"x": "z"}}, "data": map[string]any{"b": "<1>"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	big := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: "+strings.Repeat("x", maxLastApplied)+"}")
	if err := setLastApplied(big); err != nil || big.GetAnnotations()[AnnotationLastApplied] != "" {
		t.Errorf("%v: a large object got the annotation", err)
	}
}

func TestDropUnknownFields(t *testing.T) {
	obj := object(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, foo: 1}\nspec: {replicas: 0, nope: {}, template: {spec: {hostNetwork: false, containers: [{name: c, imagee: x, env: []}]}}}")
	got := dropUnknownFields(obj)
	if d := cmp.Diff([]string{"metadata.foo", "spec.nope", "spec.template.spec.containers[0].imagee"}, got); d != "" {
		t.Error(d)
	}
	want := object(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 0, template: {spec: {hostNetwork: false, containers: [{name: c, env: []}]}}}")
	if d := cmp.Diff(want, obj); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"apiVersion: x.io/v1\nkind: Deployment\nspec: {nope: 1}", "apiVersion: v1\nkind: ConfigMap\ndata: [1]\nnope: 1", "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}"} {
		if got := dropUnknownFields(object(t, text)); got != nil {
			t.Errorf("%s: dropped %v", text, got)
		}
	}
}
