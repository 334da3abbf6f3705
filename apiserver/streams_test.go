// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

func TestLongRunning(t *testing.T) {
	const run = "/apis/kudo.dev/v1beta1/namespaces/ns/planexecutions/x"
	resolver := &genericapirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	for _, tc := range []struct {
		method, target string
		want           bool
	}{
		{"GET", run + "/status", false},
		{"GET", run + "/status?watch=true", true},
		{"GET", run + "/status?watch=1&resourceVersion=5", true},
		{"GET", run + "/status?watch", true},
		{"GET", run + "/status?watch=false", false},
		{"GET", run + "/status?watch=0", false},
		{"PUT", run + "/status?watch=true", false},
		{"PATCH", run + "/status?watch=true", false},
		{"GET", run + "?watch=true", false},
		{"GET", strings.Replace(run, "planexecutions", "instances", 1) + "/status?watch=true", false},
		{"GET", run + "/log", true},
		{"GET", "/apis/kudo.dev/v1beta1/planexecutions?watch=true", true},
	} {
		req := httptest.NewRequestWithContext(t.Context(), tc.method, tc.target, nil)
		info, err := resolver.NewRequestInfo(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := longRunning()(req, info); got != tc.want {
			t.Errorf("%s %s: %v, want %v", tc.method, tc.target, got, tc.want)
		}
	}
}

func TestStatusWatchLimit(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"":                            maxStatusWatch,
		"timeoutSeconds=0":            maxStatusWatch,
		"timeoutSeconds=3":            3 * time.Second,
		"timeoutSeconds=3000":         maxStatusWatch,
		"timeout=10s":                 9 * time.Second,
		"timeout=0s":                  maxStatusWatch,
		"timeout=1h&timeoutSeconds=2": 2 * time.Second,
		"timeoutSeconds=-1":           0,
		"timeoutSeconds=x":            0,
		"timeoutSeconds=99999999999":  0,
		"labelSelector=a":             0,
		"fieldSelector=a%3Db":         0,
		"sendInitialEvents=true":      0,
		"limit=5":                     0,
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := statusWatchLimit(values)
		if got != want || (want == 0) != apierrors.IsBadRequest(err) {
			t.Errorf("%s: %v, %v, want %v", query, got, err, want)
		}
	}
}

func TestWithQuery(t *testing.T) {
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x?watch=1&resourceVersion=7&timeoutSeconds=3&allowWatchBookmarks=true", nil)
	if got, want := withQuery(req, resumable).URL.RawQuery, "resourceVersion=7&watch=true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !strings.Contains(req.URL.RawQuery, "timeoutSeconds=3") {
		t.Errorf("the request of the client was changed: %s", req.URL)
	}
}

// TestCut: a server that stops does not wait for a client that does not read.
func TestCut(t *testing.T) {
	shutdown, stuck := make(chan struct{}), make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		go cut(req.Context(), w, shutdown)
		page := make([]byte, 1<<20)
		for {
			if _, err := w.Write(page); err != nil {
				stuck <- err
				return
			}
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	close(shutdown)
	select {
	case err := <-stuck:
		if !strings.Contains(err.Error(), "timeout") {
			t.Errorf("the write failed with %v", err)
		}
	case <-time.After(10 * cutGrace):
		t.Error("the handler still writes")
	}
}
