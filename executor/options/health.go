// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

// syncer says whether the controller has seen what there is to do.
type syncer interface{ Synced() bool }

// checks answer the health checks of the pod. One that does not hold the lease is ready: it is ready to take over.
type checks struct {
	controller syncer
	leading    atomic.Bool
}

func newChecks(c syncer) *checks { return &checks{controller: c} }

func (c *checks) lead()   { c.leading.Store(true) }
func (c *checks) follow() { c.leading.Store(false) }

func (c *checks) ready() error {
	if c.leading.Load() && !c.controller.Synced() {
		return errors.New("kudo.dev has not been listed yet; is the KUDO API server running and its APIService available?")
	}
	return nil
}

// serve answers on the health address until stop is called.
func (o *Options) serve(ctx context.Context, c *checks) (stop func(), err error) {
	if !o.serves() {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", o.HealthBindAddress)
	if err != nil {
		return nil, fmt.Errorf("--health-bind-address: %w", err)
	}
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			klog.FromContext(ctx).Error(err, "Health checks and metrics are not served any more")
		}
	}()
	return func() { _ = server.Close() }, nil
}

func (c *checks) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := c.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok"))
	})
	mux.Handle("/metrics", legacyregistry.Handler())
	return mux
}
