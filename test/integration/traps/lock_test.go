// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package traps_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestKilledWhileAccepting: however a server ends, what it accepted runs, and what it did not accept either never existed or is
// a whole run: lock and PlanExecution never disagree for longer than the keeper takes.
func TestKilledWhileAccepting(t *testing.T) {
	const rounds, instances = 6, 12
	ns := env.Namespace(t)
	env.Create(t, ns, "operatorversions", harness.Version)
	for n := range instances {
		env.Create(t, ns, "instances", harness.Instance(name(n)))
	}
	for n := range instances {
		env.Idle(t, ns, name(n))
	}
	for round := range rounds {
		accepted := triggerAllAndKill(t, ns, instances, time.Duration(10+round*6)*time.Millisecond)
		env.StartServer(t)
		whole := 0
		for n := range instances {
			env.Until(t, 10*time.Second, "lock and run of "+name(n)+" to agree", func() error {
				held, err := agree(t, ns, name(n), accepted[n])
				if err == nil && held {
					whole++
				}
				return err
			})
		}
		t.Logf("round %d: %d of %d accepted, %d hold their Instance", round, len(accepted), instances, whole)
		env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions")})
		for n := range instances {
			free(t, ns, name(n))
		}
	}
}

func name(n int) string { return fmt.Sprintf("db-%d", n) }

// triggerAllAndKill asks for a run of every Instance at once, alternating between the paths, and kills the server after a while. It
// returns the uids that were answered, by number of the Instance.
func triggerAllAndKill(t *testing.T, ns string, instances int, after time.Duration) map[int]string {
	t.Helper()
	config, err := env.Cluster.RESTConfig(cluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	accepted := map[int]string{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for n := range instances {
		path, body := harness.Path(ns, "instances", name(n), "plans", "backup:trigger"), ""
		if n%2 == 1 {
			path, body = harness.Path(ns, "planexecutions"), strings.Replace(harness.Execution("x", name(n), "backup"), "name: x", "generateName: x-", 1)
		}
		group.Go(func() {
			uid := post(t.Context(), client, env.Cluster.URL()+path, body)
			mu.Lock()
			defer mu.Unlock()
			if uid != "" {
				accepted[n] = uid
			}
		})
	}
	// The time between request and kill is what varies, so that requests are met in every state.
	time.Sleep(after)
	env.KillServer(t)
	group.Wait()
	return accepted
}

// post returns the uid of what was created, or nothing.
func post(ctx context.Context, client *http.Client, url, body string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return ""
	}
	req.Header.Set("Content-Type", harness.YAML)
	req.Header.Set("Accept", harness.JSON)
	resp, err := client.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	var created unstructured.Unstructured
	if err != nil || resp.StatusCode != http.StatusCreated || json.Unmarshal(data, &created.Object) != nil {
		return ""
	}
	return string(created.GetUID())
}

// agree is nil if the Instance is free and has no unfinished run, or is held by exactly the one it has. What was accepted must
// have a run.
func agree(t *testing.T, ns, instance, accepted string) (held bool, err error) {
	t.Helper()
	lock := harness.Field(env.Get(t, ns, "instances", instance), "spec", "planExecution", "uid")
	list := env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, "planexecutions") + "?fieldSelector=spec.instanceName%3D" + instance + ",spec.planName%3Dbackup"}).Object(t)
	items, _, _ := unstructured.NestedSlice(list.Object, "items")
	var uids []string
	for _, item := range items {
		uid, _, _ := unstructured.NestedString(item.(map[string]any), "metadata", "uid")
		uids = append(uids, uid)
	}
	switch {
	case len(uids) > 1:
		t.Fatalf("%s has more than one run: %q", instance, uids)
	case accepted != "" && (len(uids) == 0 || uids[0] != accepted):
		return false, fmt.Errorf("accepted is %s, runs are %q", accepted, uids)
	case lock == "" && len(uids) == 0:
		return false, nil
	case len(uids) == 0 || lock != uids[0]:
		return false, fmt.Errorf("the lock is %q, runs are %q", lock, uids)
	}
	return true, nil
}

// TestDeletedRunReleases: an Instance is free as soon as the run that held it is deleted, and can run the next plan.
func TestDeletedRunReleases(t *testing.T) {
	ns := env.Installed(t, "db")
	run := hold(t, ns, "db")
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run) + "?dryRun=All"})
	if got := harness.Field(env.Get(t, ns, "instances", "db"), "spec", "planExecution", "planName"); got != "backup" {
		t.Errorf("a dry run of a deletion released the lock: %q", got)
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run)})
	i := env.Get(t, ns, "instances", "db")
	if got := harness.Field(i, "spec", "planExecution", "planName"); got != "" {
		t.Errorf("plan %s still holds the Instance", got)
	}
	if got := harness.Field(i, "status", "planStatus", "backup", "status"); got != "FATAL_ERROR" {
		t.Errorf("backup is %s", got)
	}
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger")})
	env.Idle(t, ns, "db")
}

// TestDeletedWhileTheServerIsKilled: the lock of a run that was deleted a moment before the server was killed does not stay.
func TestDeletedWhileTheServerIsKilled(t *testing.T) {
	ns := env.Installed(t, "db")
	run := hold(t, ns, "db")
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run)})
	env.KillServer(t)
	env.StartServer(t)
	free(t, ns, "db")
}

// free waits until no run holds the Instance, without ending one.
func free(t *testing.T, ns, instance string) {
	t.Helper()
	env.Until(t, 10*time.Second, "the lock to be released", func() error {
		if got := harness.Field(env.Get(t, ns, "instances", instance), "spec", "planExecution", "planName"); got != "" {
			return fmt.Errorf("plan %s holds %s", got, instance)
		}
		return nil
	})
}
