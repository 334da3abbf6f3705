// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"

	"kudo.dev/kudo/executor/fault"
)

type kindsFixture struct {
	*Kinds
	discovery *fakediscovery.FakeDiscovery
	clock     *testclock.FakePassiveClock
}

func newKinds(objects ...runtime.Object) kindsFixture {
	list := func(gv string, resources ...metav1.APIResource) *metav1.APIResourceList {
		return &metav1.APIResourceList{GroupVersion: gv, APIResources: resources}
	}
	d := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}
	d.Resources = []*metav1.APIResourceList{
		list("v1", metav1.APIResource{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}, metav1.APIResource{Name: "namespaces", Kind: "Namespace"}),
		list("apps/v1", metav1.APIResource{Name: "deployments", Kind: "Deployment", Namespaced: true}),
		list("admissionregistration.k8s.io/v1", metav1.APIResource{Name: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"}),
		list("autoscaling/v2", metav1.APIResource{Name: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler", Namespaced: true}),
		list("policy/v1", metav1.APIResource{Name: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Namespaced: true}),
		list("networking.k8s.io/v1", metav1.APIResource{Name: "ingresses", Kind: "Ingress", Namespaced: true}),
		list("apiextensions.k8s.io/v1", metav1.APIResource{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition"}),
	}
	c := testclock.NewFakePassiveClock(time.Now())
	dyn := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList"}, objects...)
	return kindsFixture{NewKinds(d, dyn, c), d, c}
}

func TestResolve(t *testing.T) {
	k := newKinds()
	r, warning, err := k.Resolve(context.Background(), object(t, "apiVersion: v1\nkind: ConfigMap"), "t")
	want := Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespaced: true}
	if err != nil || warning != "" || r != want {
		t.Errorf("got %v %q %v", r, warning, err)
	}
	if r, _, err = k.Resolve(context.Background(), object(t, "apiVersion: v1\nkind: Namespace"), "t"); err != nil || r.Namespaced {
		t.Errorf("got %v %v", r, err)
	}
}

func TestResolveUnknown(t *testing.T) {
	crd := object(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.x.io}\nspec: {group: x.io, names: {kind: Thing}, versions: [{name: v1, served: true}]}")
	for _, c := range []struct {
		name, obj string
		reason    string
		final     bool
		want      []string
	}{
		{"nowhere", "apiVersion: y.io/v1\nkind: Other", fault.ReasonUnknownKind, true, []string{`"t.yaml"`, "Other", "y.io/v1", "install the CustomResourceDefinition", "fix"}},
		{"definition not established", "apiVersion: x.io/v1\nkind: Thing", fault.ReasonTransient, false, []string{"not served yet", "things.x.io"}},
		{"another version", "apiVersion: x.io/v2\nkind: Thing", fault.ReasonUnknownKind, true, []string{"v2", "things.x.io"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKinds(crd)
			_, _, err := k.Resolve(context.Background(), object(t, c.obj), "t.yaml")
			if reason, final := fault.Classify(err); reason != c.reason || final != c.final {
				t.Fatalf("got %s %v: %v", reason, final, err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

// TestResolveReadsDiscoverySeldom: what is installed later is found, and a kind that is missing does not make every try
// read all of discovery.
func TestResolveReadsDiscoverySeldom(t *testing.T) {
	k := newKinds()
	thing := object(t, "apiVersion: x.io/v1\nkind: Thing")
	if _, _, err := k.Resolve(context.Background(), thing, "t"); err == nil {
		t.Fatal("found")
	}
	before := len(k.discovery.Actions())
	for range 5 {
		_, _, err := k.Resolve(context.Background(), thing, "t")
		if _, final := fault.Classify(err); final {
			t.Fatalf("an answer from old discovery is not final: %v", err)
		}
	}
	if got := len(k.discovery.Actions()); got != before {
		t.Errorf("discovery was read %d times", got-before)
	}
	k.discovery.Resources = append(k.discovery.Resources, &metav1.APIResourceList{GroupVersion: "x.io/v1", APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing"}}})
	k.clock.SetTime(k.clock.Now().Add(refreshEvery))
	if r, _, err := k.Resolve(context.Background(), thing, "t"); err != nil || r.Resource != "things" {
		t.Errorf("got %v %v", r, err)
	}
}

func TestRetiredVersions(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"budget", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}}",
			"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}}"},
		{"budget of nothing", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {}}",
			"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {matchExpressions: [{key: pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match, operator: Exists}]}}"},
		{"deployment", "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\nspec: {rollbackTo: {revision: 1}, template: {metadata: {labels: {a: b}}}}",
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: {labels: {a: b}}}, selector: {matchLabels: {a: b}}}"},
		{"deployment with a selector", "apiVersion: apps/v1beta2\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {x: y}}, template: {metadata: {labels: {a: b, x: y}}}}",
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {x: y}}, template: {metadata: {labels: {a: b, x: y}}}}"},
		{"ingress", "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}\nspec: {backend: {serviceName: d, servicePort: 80}, rules: [{host: h, http: {paths: [{path: /, backend: {serviceName: s, servicePort: web}}, {path: /x, pathType: Exact, backend: {serviceName: s, servicePort: 8080}}]}}]}",
			"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec: {defaultBackend: {service: {name: d, port: {number: 80}}}, rules: [{host: h, http: {paths: [{path: /, pathType: ImplementationSpecific, backend: {service: {name: s, port: {name: web}}}}, {path: /x, pathType: Exact, backend: {service: {name: s, port: {number: 8080}}}}]}}]}"},
		{"definition", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: x.io, version: v1, names: {kind: T}, subresources: {status: {}}, additionalPrinterColumns: [{name: A, JSONPath: .a}]}\nstatus: {}",
			"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: x.io, names: {kind: T}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, additionalPrinterColumns: [{name: A, jsonPath: .a}], schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}"},
		{"definition with a schema that v1 does not take", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: x.io, version: v1, scope: Cluster, preserveUnknownFields: false, names: {kind: T}, validation: {openAPIV3Schema: {properties: {metadata: {type: object, properties: {name: {maxLength: 3}}}, spec: {properties: {port: {anyOf: [{type: string}, {type: integer}]}, any: {description: d}, list: {type: array}, map: {additionalProperties: {type: string}}, open: {type: object, additionalProperties: true}, type: {type: string, uniqueItems: true}, one: {type: object, oneOf: [{required: [type]}, {type: object, properties: {type: {type: string, maxLength: 2}}}]}}}}}}}",
			"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: x.io, scope: Cluster, names: {kind: T}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {metadata: {type: object}, spec: {type: object, properties: {port: {x-kubernetes-int-or-string: true}, any: {description: d, x-kubernetes-preserve-unknown-fields: true}, list: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}, map: {type: object, additionalProperties: {type: string}}, open: {type: object, x-kubernetes-preserve-unknown-fields: true}, type: {type: string}, one: {type: object, oneOf: [{required: [type]}, {properties: {type: {maxLength: 2}}}]}}}}}}}]}"},
		{"webhooks", "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks: [{name: w.x.io, clientConfig: {url: u}}, {name: v.x.io, failurePolicy: Fail, sideEffects: None, matchPolicy: Equivalent, timeoutSeconds: 1, admissionReviewVersions: [v1]}]",
			"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks: [{name: w.x.io, clientConfig: {url: u}, failurePolicy: Ignore, matchPolicy: Exact, timeoutSeconds: 30, sideEffects: NoneOnDryRun, admissionReviewVersions: [v1beta1]}, {name: v.x.io, failurePolicy: Fail, sideEffects: None, matchPolicy: Equivalent, timeoutSeconds: 1, admissionReviewVersions: [v1]}]"},
		{"autoscaler", "apiVersion: autoscaling/v2beta1\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {metrics: [{type: Resource, resource: {name: cpu, targetAverageUtilization: 50}}, {type: Resource, resource: {name: memory, targetAverageValue: 1Gi}}]}",
			"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}, {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}]}"},
		{"definition with a schema", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: x.io, scope: Cluster, preserveUnknownFields: false, versions: [{name: v1, served: true, storage: true}], names: {kind: T}, validation: {openAPIV3Schema: {properties: {spec: {type: object}}}}, conversion: {strategy: Webhook, webhookClientConfig: {url: u}}}",
			"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: x.io, scope: Cluster, names: {kind: T}, conversion: {strategy: Webhook, webhook: {clientConfig: {url: u}, conversionReviewVersions: [v1beta1]}}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}]}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKinds()
			obj := object(t, c.in)
			_, warning, err := k.Resolve(context.Background(), obj, "t.yaml")
			if err != nil || !strings.Contains(warning, "t.yaml") || !strings.Contains(warning, "retired") {
				t.Fatalf("%q %v", warning, err)
			}
			if d := cmp.Diff(show(t, object(t, c.want)), show(t, obj)); d != "" {
				t.Error(d)
			}
		})
	}
}
