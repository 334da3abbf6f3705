// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestStopsWithOpenStreams: SIGTERM ends the server within seconds although clients watch and follow, and the clients' streams end.
func TestStopsWithOpenStreams(t *testing.T) {
	ns := env.Installed(t, "db")
	run := hold(t, ns, "db")
	ended := make(chan string, 4)
	for name, path := range map[string]string{
		"watch of all":         harness.Root + "/planexecutions?watch=true",
		"watch of one":         harness.Path(ns, "planexecutions") + "?watch=true&fieldSelector=metadata.name%3D" + run,
		"watch of Instances":   harness.Path(ns, "instances") + "?watch=true",
		"log that is followed": harness.Path(ns, "planexecutions", run, "log") + "?follow=true",
	} {
		resp := env.Open(t.Context(), t, harness.Request{Method: "GET", Path: path, Accept: "*/*"})
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", name, resp.Status)
		}
		go func() {
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
			ended <- name
		}()
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := env.KUDO.StopServer(ctx)
	took := time.Since(begin)
	t.Logf("stopped after %s", took.Round(100*time.Millisecond))
	if err != nil {
		env.KillServer(t)
		t.Errorf("the server runs after %s: %v", took, err)
	}
	for range 4 {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Error("a stream outlives the server")
		}
	}
	env.StartServer(t)
}

// TestDataSurvives: what was written is there and can be changed, however the server ended.
func TestDataSurvives(t *testing.T) {
	ns := env.Installed(t, "db")
	run := hold(t, ns, "db")
	for name, end := range map[string]func(){
		"kill": func() { env.KillServer(t) },
		"stop": func() {
			if err := env.KUDO.StopServer(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		before := env.Get(t, ns, "planexecutions", run)
		// The last write before the end is the one at risk.
		last := env.Expect(t, http.StatusOK, harness.Request{Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "instances", "db"),
			Body: fmt.Sprintf(`{"metadata":{"labels":{"last":%q}}}`, name)}).Object(t)
		end()
		env.StartServer(t)
		after := env.Get(t, ns, "instances", "db")
		if after.GetLabels()["last"] != name || after.GetUID() != last.GetUID() {
			t.Errorf("after %s: the last write is lost: %v", name, after.GetLabels())
		}
		if got := env.Get(t, ns, "planexecutions", run); got.GetUID() != before.GetUID() {
			t.Errorf("after %s: the run is another", name)
		}
		env.Expect(t, http.StatusConflict, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger")}, run)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run)})
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger")})
	env.Idle(t, ns, "db")
}

// TestRestartForbidsNothing: while a server starts it asks clients to try again. It never takes them for strangers, whom it would
// forbid what they may do, and never says that the group or an object does not exist.
func TestRestartForbidsNothing(t *testing.T) {
	ns := env.Installed(t, "db")
	for range 3 {
		env.KillServer(t)
		if err := env.KUDO.LaunchServer(); err != nil {
			t.Fatal(err)
		}
		codes := map[int]int{}
		env.Until(t, patience, "the server to answer", func() error {
			got := env.Send(t, harness.Request{Method: "GET", Path: harness.Path(ns, "instances", "db")})
			codes[got.Code]++
			if got.Code != http.StatusOK && got.Code != http.StatusServiceUnavailable {
				t.Errorf("%d: %s", got.Code, got.Text())
			}
			if got.Code != http.StatusOK {
				return fmt.Errorf("%d", got.Code)
			}
			return nil
		})
		t.Logf("answers by code: %v", codes)
		env.StartServer(t)
	}
}

// TestOneServerPerFolder: a second server on the same data says who is in the way and leaves the first alone.
func TestOneServerPerFolder(t *testing.T) {
	t.Parallel()
	kubeconfig := env.Cluster.KubeconfigPath(cluster.Server)
	begin := time.Now()
	out, err := exec.CommandContext(t.Context(), filepath.Join(env.KUDO.BinDir(), "kudo-apiserver"),
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=1", "--data-dir="+filepath.Join(env.Cluster.Dir(), "kudo-data")).CombinedOutput()
	t.Logf("ended after %s", time.Since(begin).Round(time.Second))
	if err == nil || !strings.Contains(string(out), "in use by another kudo-apiserver") || !strings.Contains(string(out), "kudo-data") {
		t.Errorf("got %v: %s", err, out)
	}
	if lines := strings.Count(string(out), "\n"); lines > 20 {
		t.Errorf("the reason is hidden in %d lines:\n%s", lines, out)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Root + "/instances"})
}
