// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"text/template"
)

// files are the configurations, by name. test/cluster makes the PKI and the kubeconfigs they name.
var files = map[string]string{
	"containerd.toml": `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "{{.Socket}}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/busybox:node"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{{.Dir}}/node/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`,
	"cni/10-node.conflist": `{"cniVersion": "0.4.0", "name": "node", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "{{.PodCIDR}}"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
`,
	"kubelet.yaml": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {{.InnerIP}}
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: {{.Dir}}/pki/ca.crt}
authorization: {mode: Webhook}
containerRuntimeEndpoint: unix://{{.Socket}}
cgroupDriver: cgroupfs
failCgroupV1: false
oomScoreAdj: 0
failSwapOn: false
clusterDomain: cluster.local
clusterDNS: [{{.InnerIP}}]
resolvConf: {{.Dir}}/node/resolv.conf
volumePluginDir: {{.Dir}}/node/volume-plugins
# A full disk of the machine is none of the tests' business.
evictionHard: {nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}
imageGCHighThresholdPercent: 100
`,
	"resolv.conf": "nameserver 127.0.0.1\n",
	"proxy.yaml": `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: {{.Dir}}/users/kube-proxy.kubeconfig}
clusterCIDR: {{.PodCIDR}}
# These belong to the machine.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`,
}

func (n *node) writeFiles() error {
	for _, folder := range []string{"cni", "settings", "lib", "log"} {
		if err := os.MkdirAll(n.path(folder), 0o755); err != nil {
			return err
		}
	}
	values := map[string]string{"Dir": n.dir, "Socket": socket, "PodCIDR": n.podCIDR(), "InnerIP": n.innerIP()}
	for name, text := range files {
		t, err := template.New(name).Parse(text)
		if err != nil {
			return err
		}
		var content bytes.Buffer
		if err := t.Execute(&content, values); err != nil {
			return err
		}
		if err := os.WriteFile(n.path(filepath.FromSlash(name)), content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
