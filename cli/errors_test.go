// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/generated/clientset/versioned"
)

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		name, body, want string
		code             int
	}{
		{"API not installed", "404 page not found", "the cluster does not serve kudo.dev/v1beta1; the APIService v1beta1.kudo.dev may not be installed, see: kubectl get apiservice", 404},
		{"API not available", "service unavailable", "the KUDO API server is not available: ", 503},
		{"no such object", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"instances.kudo.dev \"kv\" not found","reason":"NotFound","details":{"name":"kv","group":"kudo.dev","kind":"instances"},"code":404}`,
			`instances.kudo.dev "kv" not found`, 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if strings.HasPrefix(test.body, "{") {
					w.Header().Set("Content-Type", "application/json")
				}
				w.WriteHeader(test.code)
				_, _ = fmt.Fprint(w, test.body)
			}))
			defer server.Close()
			client, err := versioned.NewForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.KudoV1beta1().Instances("default").Get(t.Context(), "kv", metav1.GetOptions{})
			if got := explain(err).Error(); !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if isNotFound(err) != (test.name == "no such object") {
				t.Errorf("isNotFound: %t", isNotFound(err))
			}
		})
	}
}

func TestExplainUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfig(&rest.Config{Host: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.KudoV1beta1().Instances("default").Get(t.Context(), "kv", metav1.GetOptions{})
	if got := explain(err).Error(); !strings.HasPrefix(got, "the cluster cannot be reached: ") {
		t.Errorf("got %s", got)
	}
}

func TestRunPrintsOneLine(t *testing.T) {
	var out strings.Builder
	command := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
		return errors.Join(errors.New("one"), errors.New("two"))
	}}
	command.SetErr(&out)
	command.SetArgs(nil)
	if code := Run(command); code != 1 || out.String() != "error: one; two\n" {
		t.Errorf("got %d, %q", code, out.String())
	}
}
