// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package podfiles

import (
	"net/http"
	"net/url"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
)

var parameters = scheme.ParameterCodec

// newExecutor is one that falls back to SPDY where the server, or what stands before it, does not speak WebSocket.
func newExecutor(config *rest.Config, u *url.URL) (remotecommand.Executor, error) {
	spdy, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, u)
	if err != nil {
		return nil, err
	}
	// A WebSocket begins with GET.
	sockets, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, u.String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(sockets, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}
