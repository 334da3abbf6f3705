// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package storage

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kudo.dev/kudo/test/cluster"
)

const objects = `
apiVersion: kudo.dev/v1beta1
kind: OperatorVersion
metadata: {name: stored-1.0.0}
spec:
  tasks: [{name: nothing, kind: Dummy, spec: {done: true}}]
  plans: {deploy: {phases: [{name: main, steps: [{name: one, tasks: [nothing]}]}]}}
---
apiVersion: kudo.dev/v1beta1
kind: Instance
metadata: {name: stored}
spec: {operatorVersion: {name: stored-1.0.0}}
`

// TestExternalEtcd runs the server on an etcd of somebody else's: it keeps to its own prefix and writes protobuf.
func TestExternalEtcd(t *testing.T) {
	ctx := t.Context()
	c, err := cluster.Start(ctx, cluster.Options{Dir: filepath.Join(t.TempDir(), "cluster"), Mode: cluster.ModeControllers, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := cluster.InstallKUDO(ctx, c, cluster.KUDOOptions{ServerArgs: []string{"--etcd-servers=" + c.EtcdURL()}}); err != nil {
		t.Fatal(err)
	}
	if out, err := c.KubectlAs(ctx, cluster.Admin, strings.NewReader(objects), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := c.Kubectl("wait", "--for=condition=Complete", "planexecutions", "--all", "--timeout=60s"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{c.EtcdURL()}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = etcd.Close() }()
	for _, resource := range []string{"operatorversions", "operatorversionrevisions", "instances", "planexecutions"} {
		prefix := "/registry-kudo/kudo.dev/" + resource + "/default/"
		got, err := etcd.Get(ctx, prefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Kvs) != 1 {
			t.Errorf("%d keys below %s, want 1", len(got.Kvs), prefix)
		}
		for _, kv := range got.Kvs {
			// The first four bytes mark Kubernetes' envelope of protobuf.
			if !bytes.HasPrefix(kv.Value, []byte("k8s\x00")) {
				t.Errorf("%s is not protobuf: %.40q", kv.Key, kv.Value)
			}
			if !bytes.Contains(kv.Value, []byte("kudo.dev/v1beta1")) {
				t.Errorf("%s does not say its version: %.60q", kv.Key, kv.Value)
			}
		}
	}
	if got, err := etcd.Get(ctx, "/registry/kudo.dev", clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || got.Count != 0 {
		t.Errorf("%d keys where custom resources of the group would be (%v)", got.Count, err)
	}
}
