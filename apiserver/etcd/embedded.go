// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package etcd runs the storage inside the server, for installations with one replica. It may import etcd and nothing of this
// project.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/embed"
)

const (
	// name of the only member. The name "default" would make etcd warn.
	name = "kudo"
	// quotaBytes is how large the database may grow before it refuses writes. Old revisions are compacted by the API server.
	quotaBytes = 4 << 30
	// progressInterval is how often watches learn how far they are when nothing happens; kube-apiserver recommends 5 s.
	progressInterval = 5 * time.Second
	// startTimeout is longer than the replay of a full write-ahead log takes.
	startTimeout = 60 * time.Second
)

// Server is a running etcd.
type Server struct {
	etcd      *embed.Etcd
	lock      *fileutil.LockedFile
	socketDir string
	stopping  *atomic.Bool
	// Endpoint is where clients of this process connect.
	Endpoint string
}

// Start runs etcd on the folder, which is made if it does not exist and which belongs to this process alone as long as it runs.
// Clients connect by a unix socket in a folder of this process's own: with a fixed path, an old process that stops would
// remove the socket of the new one.
func Start(ctx context.Context, dir string) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the data folder of the embedded etcd: %w; name another with --data-dir, or use an external etcd with --etcd-servers", err)
	}
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	socketDir, err := newSocketDir(dir)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	stopping := &atomic.Bool{}
	config := newConfig(dir, socketDir, stopping)
	e, err := embed.StartEtcd(config)
	if err != nil {
		_ = os.RemoveAll(socketDir)
		_ = lock.Close()
		return nil, fmt.Errorf("embedded etcd on %s: %w", dir, err)
	}
	s := &Server{etcd: e, lock: lock, socketDir: socketDir, stopping: stopping, Endpoint: "unix://" + e.Clients[0].Addr().String()}
	select {
	case <-e.Server.ReadyNotify():
		return s, nil
	case err = <-e.Err():
	case <-e.Server.StopNotify():
		err = errors.New("it stopped")
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(startTimeout):
		err = fmt.Errorf("it was not ready after %s", startTimeout)
	}
	s.Stop()
	return nil, fmt.Errorf("embedded etcd on %s: %w", dir, err)
}

func newConfig(dir, socketDir string, stopping *atomic.Bool) *embed.Config {
	config := embed.NewConfig()
	config.Name = name
	config.Dir = filepath.Join(dir, "etcd")
	client := url.URL{Scheme: "unix", Path: filepath.Join(socketDir, "etcd.sock:0")}
	peer := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(name)
	config.QuotaBackendBytes = quotaBytes
	config.WatchProgressNotifyInterval = progressInterval
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger(stopping))
	return config
}

// Failed delivers the error that ended etcd while it should have run.
func (s *Server) Failed() <-chan error { return s.etcd.Err() }

// Stop ends etcd. All clients should have stopped before: their open requests would delay it.
func (s *Server) Stop() {
	s.stopping.Store(true)
	s.etcd.Close()
	_ = os.RemoveAll(s.socketDir)
	_ = s.lock.Close()
}
