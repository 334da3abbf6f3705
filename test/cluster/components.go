// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"fmt"
	"path/filepath"
	"strconv"
)

const (
	etcd          = "etcd"
	kubeAPIServer = "kube-apiserver"
)

// components are the processes of the control plane in the order of their start.
// Their command lines follow from the state alone, so that whoever opens the
// cluster later can start a part of it again.
func (c *Cluster) components() []component {
	all := []component{c.etcd(), c.apiServer()}
	if c.state.Mode != ModeAPI {
		all = append(all, c.controllerManager(), c.scheduler())
	}
	switch c.state.Mode {
	case ModeNodes:
		all = append(all, c.kwok())
	case ModeContainers:
		all = append(all, c.realNode())
	}
	return all
}

func (c *Cluster) component(name string, args ...string) component {
	return component{name: name, program: filepath.Join(c.state.BinDir, name), args: args}
}

func (c *Cluster) etcd() component {
	peer := fmt.Sprintf("http://127.0.0.1:%d", c.state.EtcdPeerPort)
	args := []string{
		"--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + c.EtcdURL(),
		"--advertise-client-urls=" + c.EtcdURL(),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--log-level=warn",
	}
	if !c.state.Durable {
		// Nobody keeps what is in a test cluster through a power cut.
		args = append(args, "--unsafe-no-fsync")
	}
	return c.component(etcd, args...)
}

func (c *Cluster) apiServer() component {
	pki := func(name string) string { return c.path("pki", name) }
	args := []string{
		"--etcd-servers=" + c.EtcdURL(),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.state.APIServerPort),
		"--tls-cert-file=" + pki("apiserver.crt"),
		"--tls-private-key-file=" + pki("apiserver.key"),
		"--client-ca-file=" + pki("ca.crt"),
		"--token-auth-file=" + pki("tokens.csv"),
		// What an aggregated server learns to trust, from a ConfigMap.
		"--requestheader-client-ca-file=" + pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-uid-headers=X-Remote-Uid",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy-client.crt"),
		"--proxy-client-key-file=" + pki("front-proxy-client.key"),
		// An aggregated server here is a process on loopback behind a Service of
		// type ExternalName, which has no endpoints to route to.
		"--enable-aggregator-routing=false",
		"--service-account-key-file=" + pki("service-accounts.key"),
		"--service-account-signing-key-file=" + pki("service-accounts.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		"--profiling=false",
	}
	if c.state.Mode == ModeContainers {
		args = append(args,
			"--authorization-mode=Node,RBAC",
			// Pods reach it there, through the Service kubernetes.
			"--advertise-address="+c.outerIP(),
			// For logs and exec.
			"--kubelet-client-certificate="+pki("kubelet-client.crt"),
			"--kubelet-client-key="+pki("kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP",
		)
	} else {
		args = append(args,
			"--authorization-mode=RBAC",
			"--advertise-address=127.0.0.1",
			"--endpoint-reconciler-type=none",
		)
	}
	return c.component(kubeAPIServer, append(args, c.state.APIServerArgs...)...)
}

func (c *Cluster) controllerManager() component {
	return c.component(kubeControllerManager,
		"--kubeconfig="+c.KubeconfigPath(kubeControllerManager),
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file="+c.path("pki", "service-accounts.key"),
		"--root-ca-file="+c.path("pki", "ca.crt"),
		"--cluster-signing-cert-file="+c.path("pki", "ca.crt"),
		"--cluster-signing-key-file="+c.path("pki", "ca.key"),
		// The default places belong to root.
		"--flex-volume-plugin-dir="+c.path("volume-plugins"),
		// With the default limits its dozens of clients take seconds to start.
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	)
}

func (c *Cluster) scheduler() component {
	return c.component(kubeScheduler,
		"--kubeconfig="+c.KubeconfigPath(kubeScheduler),
		"--secure-port=0",
		"--leader-elect=false",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	)
}
