// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package etcd

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func put(t *testing.T, s *Server, key, value string) {
	t.Helper()
	if _, err := client(t, s).Put(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, s *Server) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestDataSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	first, err := Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, first, "a", "1")
	first.Stop()
	if _, err := os.Stat(first.socketDir); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	second, err := Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Stop()
	got, err := client(t, second).Get(t.Context(), "a")
	if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "1" {
		t.Errorf("after the restart: %v, %v", got, err)
	}
	if second.Endpoint == first.Endpoint {
		t.Error("two processes would share a socket")
	}
}

func TestAFolderInUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	first, err := Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = Start(ctx, dir)
	if err == nil || !strings.Contains(err.Error(), "in use by another kudo-apiserver") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, want an error that says who has the folder", err)
	}
}

func TestAFolderThatCannotBeMade(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), file+"/data"); err == nil || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("got %v, want an error that names the flag", err)
	}
}
