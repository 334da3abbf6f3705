// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOpenURL(t *testing.T) {
	content := minimal()
	content["templates/a.yaml"] = "a"
	data := pack(t, content)
	mux := http.NewServeMux()
	mux.HandleFunc("/op.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	mux.Handle("/moved.tgz", http.RedirectHandler("/op.tgz", http.StatusFound))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	mux.HandleFunc("/cut.tgz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write(data[:20])
	})
	mux.HandleFunc("/endless.tgz", func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, path := range []string{"/op.tgz", "/moved.tgz"} {
		p, err := Open(context.Background(), server.URL+path)
		if err != nil || p.Templates["a.yaml"] != "a" || p.Location() != server.URL+path {
			t.Errorf("%s: got %+v, %v", path, p, err)
		}
	}
	secret := strings.Replace(server.URL, "http://", "http://me:s3cret@", 1)
	for _, test := range []struct{ location, want string }{
		{server.URL + "/nothing.tgz", "cannot be downloaded: the server answers 404 Not Found; check the URL"},
		{secret + "/nothing.tgz", "the server answers 404"},
		{server.URL + "/page", "it is neither a folder nor a gzip'd tar"},
		{server.URL + "/cut.tgz", "cannot be downloaded: unexpected EOF"},
		{server.URL + "/endless.tgz", "it is longer than 16 MiB"},
		{"http://127.0.0.1:1/op.tgz", "cannot be downloaded: dial tcp 127.0.0.1:1"},
		{"ftp://example.com/op.tgz", "it has to begin with http:// or https://"},
		{"http:///op.tgz", "it has to begin with http:// or https://"},
	} {
		_, err := Open(context.Background(), test.location)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v\nwant %s", test.location, err, test.want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Open(ctx, server.URL+"/op.tgz"); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v", err)
	}
}
