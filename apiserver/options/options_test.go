// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	discoveryfake "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func parsed(t *testing.T, args ...string) *Options {
	t.Helper()
	o, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, fs := range o.Flags().FlagSets {
		fs.ParseErrorsAllowlist.UnknownFlags = true
		if err := fs.Parse(args); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		says string
	}{
		{"defaults", nil, ""},
		{"external etcd", []string{"--etcd-servers=http://127.0.0.1:2379", "--data-dir="}, ""},
		{"no storage", []string{"--data-dir="}, "--data-dir"},
		{"no service", []string{"--service-name="}, "--service-name"},
		{"bad port", []string{"--secure-port=70000"}, "secure-port"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := parsed(t, tc.args...).Validate()
			if (err == nil) != (tc.says == "") || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got %v, want it to say %q", err, tc.says)
			}
		})
	}
}

func TestValidateLeavesTheEmbeddedEtcdUnset(t *testing.T) {
	o := parsed(t)
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if !o.embedded() {
		t.Error("after validation the server would look for an etcd that nobody runs")
	}
}

func TestHostsBeginWithTheNameThatKubeAPIServerUses(t *testing.T) {
	o := parsed(t, "--service-name=s", "--service-namespace=n")
	if got := o.hosts()[0]; got != "s.n.svc" {
		t.Errorf("got %s", got)
	}
}

// cluster is a kube-apiserver that serves the resources and allows what may is true for.
func cluster(served []string, may func(resource, verb string) bool) *fake.Clientset {
	client := fake.NewClientset()
	list := &metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
	for _, name := range served {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	client.Discovery().(*discoveryfake.FakeDiscovery).Resources = []*metav1.APIResourceList{list}
	client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		review.Status.Allowed = may(review.Spec.ResourceAttributes.Resource, review.Spec.ResourceAttributes.Verb)
		return true, review, nil
	})
	return client
}

func TestUnusablePlugins(t *testing.T) {
	webhooks := []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
	validating := append([]string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"}, webhooks...)
	all := append([]string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}, validating...)
	everything := func(string, string) bool { return true }
	for _, tc := range []struct {
		name   string
		served []string
		may    func(resource, verb string) bool
		want   string
	}{
		{"all is well", all, everything, ""},
		{"an older kube-apiserver", validating, everything, "MutatingAdmissionPolicy"},
		{"the right to list a kind is missing", all, func(r, v string) bool { return r != "mutatingadmissionpolicybindings" || v != "list" }, "MutatingAdmissionPolicy"},
		{"the right to watch a kind is missing", all, func(r, v string) bool { return r != "validatingwebhookconfigurations" || v != "watch" }, "ValidatingAdmissionWebhook"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := unusablePlugins(t.Context(), cluster(tc.served, tc.may))
			if err != nil || strings.Join(got, ",") != tc.want {
				t.Errorf("got %v, %v, want %q", got, err, tc.want)
			}
		})
	}
}
