// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	if err := New().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for want, change := range map[string]func(*Options){
		"--workers":                   func(o *Options) { o.Workers = 0 },
		"--kube-api-qps":              func(o *Options) { o.QPS = 0 },
		"--stuck-pod-limit":           func(o *Options) { o.StuckPodLimit = -time.Second },
		"--health-bind-address":       func(o *Options) { o.HealthBindAddress = "8081" },
		"--leader-election-namespace": func(o *Options) { o.LeaderElection.Namespace = "" },
		"--leader-election-lease":     func(o *Options) { o.LeaderElection.RenewDeadline = time.Minute },
	} {
		o := New()
		change(o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	o := New()
	o.HealthBindAddress, o.LeaderElection = "0", LeaderElection{}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	cmd := NewCommand()
	for _, name := range []string{"kubeconfig", "server", "leader-elect", "leader-election-namespace", "workers", "stuck-pod-limit", "health-bind-address", "kube-api-qps", "kube-api-burst", "v"} {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("no flag --%s", name)
		}
	}
}

type fakeSyncer bool

func (f fakeSyncer) Synced() bool { return bool(f) }

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name            string
		leading, synced bool
		want            int
	}{{"follower", false, false, 200}, {"leader that waits", true, false, 503}, {"leader", true, true, 200}} {
		checks := newChecks(fakeSyncer(c.synced))
		if c.leading {
			checks.lead()
		}
		for path, want := range map[string]int{"/readyz": c.want, "/healthz": 200, "/metrics": 200} {
			w := httptest.NewRecorder()
			checks.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code != want {
				t.Errorf("%s %s: got %d, want %d", c.name, path, w.Code, want)
			}
		}
	}
}
