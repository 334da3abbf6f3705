// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// buildHandlerChain is the usual one behind withTrust.
func buildHandlerChain(handler http.Handler, c *genericapiserver.Config) http.Handler {
	handler = genericapiserver.DefaultBuildHandlerChain(handler, c)
	if front := c.Authentication.RequestHeaderConfig; front != nil {
		return withTrust(handler, front.CAContentProvider.CurrentCABundleContent)
	}
	return handler
}

// withTrust tells clients with a certificate to try again until the server has read which front proxy to believe. In the moment
// between listening and that, the requests that kube-apiserver passes on would count as anonymous and be forbidden, and a client
// that is forbidden gives up.
func withTrust(handler http.Handler, authorities func() []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.TLS != nil && len(req.TLS.PeerCertificates) > 0 && len(authorities()) == 0 {
			responsewriters.ErrorNegotiated(&apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
				Message: "kudo-apiserver is starting and does not know yet whom to believe; try again in a second",
				Details: &metav1.StatusDetails{RetryAfterSeconds: 1},
			}}, Codecs, v1beta1.SchemeGroupVersion, w, req)
			return
		}
		handler.ServeHTTP(w, req)
	})
}

// trustCheck keeps the server from being ready as long as withTrust turns clients away.
func trustCheck(authorities func() []byte) healthz.HealthChecker {
	return healthz.NamedCheck("front-proxy-authority", func(*http.Request) error {
		if len(authorities()) == 0 {
			return errors.New("the authority of the front proxy is not read yet from ConfigMap kube-system/extension-apiserver-authentication")
		}
		return nil
	})
}
