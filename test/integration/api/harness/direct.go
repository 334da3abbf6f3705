// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package harness

import (
	"context"
	"io"
	"net/http"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"kudo.dev/kudo/test/cluster"
)

// Direct reads a path of kudo-apiserver itself, past kube-apiserver, as the administrator. The certificate is taken as it is.
func (e *Env) Direct(tb testing.TB, path string) string {
	tb.Helper()
	config, err := e.Cluster.RESTConfig(cluster.Admin)
	if err != nil {
		tb.Fatal(err)
	}
	config.TLSClientConfig = rest.TLSClientConfig{Insecure: true}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(tb.Context()), http.MethodGet, e.KUDO.ServerURL()+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatalf("GET %s: %s, %v: %s", path, resp.Status, err, body)
	}
	return string(body)
}

// LogSince is what the server has logged since its log had the length from, and its length now.
func (e *Env) LogSince(tb testing.TB, from int) (text string, length int) {
	tb.Helper()
	data, err := os.ReadFile(e.KUDO.ServerLog())
	if err != nil {
		tb.Fatal(err)
	}
	return string(data[from:]), len(data)
}

// StartServer starts kudo-apiserver and waits until it serves through kube-apiserver.
func (e *Env) StartServer(tb testing.TB) {
	tb.Helper()
	if err := e.KUDO.StartServer(context.WithoutCancel(tb.Context())); err != nil {
		tb.Fatal(err)
	}
}

// KillServer ends kudo-apiserver as kill -9 does. If the test fails before it started it again, that is done for the next one.
func (e *Env) KillServer(tb testing.TB) {
	tb.Helper()
	if err := e.KUDO.KillServer(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if len(e.KUDO.Dead()) > 0 {
			e.StartServer(tb)
		}
	})
}
