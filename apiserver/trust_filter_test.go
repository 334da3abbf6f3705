// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWithTrust(t *testing.T) {
	certificate := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}
	for name, tc := range map[string]struct {
		connection *tls.ConnectionState
		bundle     string
		code       int
	}{
		"front proxy before the authority is known": {certificate, "", http.StatusServiceUnavailable},
		"front proxy afterwards":                    {certificate, "PEM", http.StatusOK},
		"probe without a certificate":               {&tls.ConnectionState{}, "", http.StatusOK},
		"no TLS":                                    {nil, "", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			handler := withTrust(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), func() []byte { return []byte(tc.bundle) })
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/kudo.dev/v1beta1/instances", nil)
			req.TLS = tc.connection
			got := httptest.NewRecorder()
			handler.ServeHTTP(got, req)
			if got.Code != tc.code {
				t.Errorf("got %d, want %d: %s", got.Code, tc.code, got.Body)
			}
			if retry := got.Header().Get("Retry-After"); (retry == "1") != (tc.code == http.StatusServiceUnavailable) {
				t.Errorf("Retry-After is %q", retry)
			}
		})
	}
}
