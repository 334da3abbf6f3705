// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package certificates

import (
	"bytes"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorfake "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	clocktesting "k8s.io/utils/clock/testing"
)

type countingListener int

func (c *countingListener) Enqueue() { *c++ }

func TestProviderKeepsTheSecret(t *testing.T) {
	ctx := t.Context()
	client := fake.NewClientset()
	clock := clocktesting.NewFakePassiveClock(start)
	newProvider := func() *Provider {
		p := NewProvider(client, "kudo-system", "tls", hosts)
		p.clock = clock
		return p
	}
	one := newProvider()
	var changes countingListener
	one.AddListener(&changes)
	if err := one.RunOnce(ctx); err != nil {
		t.Fatal(err)
	}
	cert, key := one.CurrentCertKeyContent()
	if len(cert) == 0 || len(key) == 0 || changes != 1 {
		t.Fatalf("no certificate after the start, or %d notifications", changes)
	}
	two := newProvider()
	if err := two.RunOnce(ctx); err != nil {
		t.Fatal(err)
	}
	if other, _ := two.CurrentCertKeyContent(); !bytes.Equal(cert, other) {
		t.Error("the second replica serves another certificate than the first")
	}

	clock.SetTime(start.Add(leafLifetime - time.Hour))
	if err := two.check(ctx); err != nil {
		t.Fatal(err)
	}
	if err := one.check(ctx); err != nil {
		t.Fatal(err)
	}
	first, _ := one.CurrentCertKeyContent()
	second, _ := two.CurrentCertKeyContent()
	if bytes.Equal(first, cert) || !bytes.Equal(first, second) || changes != 2 {
		t.Errorf("after a renewal by one replica the other does not follow (%d notifications)", changes)
	}

	if err := client.CoreV1().Secrets("kudo-system").Delete(ctx, "tls", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := one.check(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Secrets("kudo-system").Get(ctx, "tls", metav1.GetOptions{}); err != nil {
		t.Errorf("a deleted Secret was not made again: %v", err)
	}
}

func TestPublisher(t *testing.T) {
	service := func(namespace, name string) *apiregistration.ServiceReference {
		return &apiregistration.ServiceReference{Namespace: namespace, Name: name}
	}
	for _, tc := range []struct {
		name  string
		spec  apiregistration.APIServiceSpec
		wrote bool
	}{
		{"no bundle yet", apiregistration.APIServiceSpec{Service: service("kudo-system", "kudo-apiserver")}, true},
		{"a wrong bundle", apiregistration.APIServiceSpec{Service: service("kudo-system", "kudo-apiserver"), CABundle: []byte("x")}, true},
		{"no check at all", apiregistration.APIServiceSpec{Service: service("kudo-system", "kudo-apiserver"), InsecureSkipTLSVerify: true}, true},
		{"another service", apiregistration.APIServiceSpec{Service: service("kudo-system", "other")}, false},
		{"served by kube-apiserver from CRDs", apiregistration.APIServiceSpec{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := t.Context()
			provider := NewProvider(fake.NewClientset(), "kudo-system", "tls", hosts)
			if err := provider.RunOnce(ctx); err != nil {
				t.Fatal(err)
			}
			client := aggregatorfake.NewClientset(&apiregistration.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1beta1.kudo.dev"}, Spec: tc.spec})
			p := NewPublisher(client, "v1beta1.kudo.dev", "kudo-system", "kudo-apiserver", provider)
			if err := p.publish(ctx); err != nil {
				t.Fatal(err)
			}
			got, err := client.ApiregistrationV1().APIServices().Get(ctx, "v1beta1.kudo.dev", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			right := bytes.Equal(got.Spec.CABundle, provider.Bundle()) && !got.Spec.InsecureSkipTLSVerify
			if right != tc.wrote {
				t.Errorf("bundle is right: %v, want %v: %+v", right, tc.wrote, got.Spec)
			}
			before := len(client.Actions())
			if err := p.publish(ctx); err != nil {
				t.Fatal(err)
			}
			for _, a := range client.Actions()[before:] {
				if a.GetVerb() != "get" {
					t.Errorf("a second time there is nothing to do, but it did %s", a.GetVerb())
				}
			}
		})
	}
}
