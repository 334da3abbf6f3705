// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Warnings of the server go where errors go. They come with the answer to a write, before a tree is drawn.
func TestWarningsGoToStderr(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "plan \"deploy\" runs as planexecution/kv-deploy-x"`)
		_, _ = io.WriteString(w, `{"apiVersion":"kudo.dev/v1beta1","kind":"Instance","metadata":{"name":"kv"}}`)
	}))
	defer server.Close()
	var out, errOut bytes.Buffer
	env := newEnvironment(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
	env.flags.APIServer = &server.URL
	c, err := env.connect()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.kudo.KudoV1beta1().Instances("default").Create(context.Background(), testInstance(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "Warning: plan \"deploy\" runs as planexecution/kv-deploy-x\n"; errOut.String() != want || out.Len() > 0 {
		t.Errorf("got %q on stderr and %q on stdout, want %q on stderr", errOut.String(), out.String(), want)
	}
}
