// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package rendered

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/fault"
)

var id = apply.Identity{Namespace: "ns", Instance: "zk", InstanceUID: "iuid", Operator: "op", Run: "run", RunUID: "ruid", Plan: "deploy", Phase: "p", Step: "s"}

func newClient() (*apply.Client, *dynamicfake.FakeDynamicClient) {
	d := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{secrets.GroupVersionResource: "SecretList"})
	return &apply.Client{Dynamic: d}, d
}

// counter renders another number each time.
func counter(varies bool, err error) func() (string, bool, error) {
	n := 0
	return func() (string, bool, error) {
		n++
		return strconv.Itoa(n), varies, err
	}
}

func TestSameTextInAStep(t *testing.T) {
	client, fake := newClient()
	render := counter(true, nil)
	text := func(id apply.Identity, template string) string {
		t.Helper()
		got, err := Text(context.Background(), client, id, template, render)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	otherStep, otherRun := id, id
	otherStep.Step, otherRun.RunUID = "t", "ruid2"
	for _, c := range []struct {
		id             apply.Identity
		template, want string
	}{{id, "a/b.yaml", "1"}, {id, "a/b.yaml", "1"}, {id, "c.yaml", "3"}, {otherStep, "a/b.yaml", "4"}, {otherRun, "a/b.yaml", "5"}, {id, "a/b.yaml", "1"}} {
		if got := text(c.id, c.template); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.template, c.id.RunUID, got, c.want)
		}
	}
	obj, err := fake.Tracker().Get(secrets.GroupVersionResource, "ns", refOf(id, "a/b.yaml").Name)
	if err != nil {
		t.Fatal(err)
	}
	secret := obj.(*unstructured.Unstructured)
	owners := secret.GetOwnerReferences()
	if len(owners) != 1 || owners[0].Kind != "PlanExecution" || owners[0].Name != "run" || owners[0].UID != "ruid" {
		t.Errorf("owners %v", owners)
	}
	if secret.GetLabels()[apply.LabelInstance] != "zk" || secret.GetAnnotations()[AnnotationTemplate] != "a/b.yaml" || secret.GetAnnotations()[apply.AnnotationRunUID] != "ruid" {
		t.Errorf("labels %v, annotations %v", secret.GetLabels(), secret.GetAnnotations())
	}
	// An error after a random number does not count once there is a text.
	if got, err := Text(context.Background(), client, id, "c.yaml", counter(true, errors.New("bad luck"))); err != nil || got != "3" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestSteadyTextsCostNothing(t *testing.T) {
	client, fake := newClient()
	if got, err := Text(context.Background(), client, id, "a", counter(false, nil)); err != nil || got != "1" {
		t.Errorf("got %s, %v", got, err)
	}
	_, err := Text(context.Background(), client, id, "a", counter(false, errors.New("no")))
	if reason, final := fault.Classify(err); !final || reason != fault.ReasonRendering {
		t.Errorf("got %v", err)
	}
	if n := len(fake.Actions()); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// TestNotStored: nothing may be applied that is not kept.
func TestNotStored(t *testing.T) {
	client, fake := newClient()
	fail := apierrors.NewInternalError(errors.New("no space"))
	fake.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, fail })
	if got, err := Text(context.Background(), client, id, "a", counter(true, nil)); got != "" || !errors.Is(err, fail) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestLostAnswer: the Secret was stored although its creation seemed to fail, and nobody saw it in between.
func TestLostAnswer(t *testing.T) {
	client, fake := newClient()
	if _, err := Text(context.Background(), client, id, "a", counter(true, nil)); err != nil {
		t.Fatal(err)
	}
	first := true
	fake.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		if first {
			first = false
			return true, nil, apierrors.NewNotFound(secrets.GroupResource(), "x")
		}
		return false, nil, nil
	})
	render := counter(true, nil)
	_, _, _ = render()
	if got, err := Text(context.Background(), client, id, "a", render); err != nil || got != "1" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestTooLarge(t *testing.T) {
	client, fake := newClient()
	data := make([]byte, 3<<19)
	_, _ = rand.Read(data)
	_, err := Text(context.Background(), client, id, "big.yaml", func() (string, bool, error) { return hex.EncodeToString(data), true, nil })
	if reason, final := fault.Classify(err); !final || reason != fault.ReasonRendering || !strings.Contains(err.Error(), `template "big.yaml"`) {
		t.Errorf("got %v", err)
	}
	for _, a := range fake.Actions() {
		if a.GetVerb() != "get" {
			t.Errorf("it was stored: %v", a)
		}
	}
}

func TestForeignSecret(t *testing.T) {
	client, fake := newClient()
	ref := refOf(id, "a")
	foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": ref.Name, "namespace": "ns"}}}
	if err := fake.Tracker().Create(secrets.GroupVersionResource, foreign, "ns"); err != nil {
		t.Fatal(err)
	}
	_, err := Text(context.Background(), client, id, "a", counter(true, nil))
	if _, final := fault.Classify(err); !final || !strings.Contains(err.Error(), ref.Name) {
		t.Errorf("got %v", err)
	}
}
