// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package store

import (
	"context"
	"net"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// The timeouts are those with which the generic storage connects.
const (
	dialTimeout      = 20 * time.Second
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
)

// connect makes a client of etcd as the generic storage does, which keeps its own to itself.
func connect(c storagebackend.TransportConfig) (*clientv3.Client, error) {
	config := clientv3.Config{
		Endpoints: c.ServerList, DialTimeout: dialTimeout, DialKeepAliveTime: keepaliveTime, DialKeepAliveTimeout: keepaliveTimeout,
		Logger: zap.NewNop(), // the generic storage, which has the same endpoints, complains for both
	}
	if c.CertFile != "" || c.KeyFile != "" || c.TrustedCAFile != "" {
		info := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.TrustedCAFile}
		var err error
		if config.TLS, err = info.ClientConfig(); err != nil {
			return nil, err
		}
	}
	if c.EgressLookup != nil {
		dial, err := c.EgressLookup(egressselector.Etcd.AsNetworkContext())
		if err != nil {
			return nil, err
		}
		if dial != nil {
			config.DialOptions = append(config.DialOptions, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				if strings.Contains(address, "//") {
					parsed, err := url.Parse(address)
					if err != nil {
						return nil, err
					}
					address = parsed.Host
				}
				return dial(ctx, "tcp", address)
			}))
		}
	}
	return clientv3.New(config)
}
