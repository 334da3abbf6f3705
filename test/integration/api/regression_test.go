// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/test/integration/api/harness"
)

// TestTriggerWithSlash: the router forgives a slash at the end of the path, and the server must not take it for another request to
// itself.
func TestTriggerWithSlash(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Expect(t, http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(ns, "instances", "db", "plans", "restore:trigger/")})
	env.Idle(t, ns, "db")
}

// TestRefusedRunLeavesNoTrace: a run that the storage would refuse does not touch its Instance.
func TestRefusedRunLeavesNoTrace(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	before := env.Get(t, ns, "instances", "db")
	body := strings.Replace(harness.Execution("again", "db", "restore"), "{name: again}", `{name: again, resourceVersion: "1"}`, 1)
	env.Expect(t, http.StatusBadRequest, harness.Request{Method: "POST", Path: harness.Path(ns, "planexecutions"), Body: body}, "resourceVersion")
	if diff := cmp.Diff(before.Object, env.Get(t, ns, "instances", "db").Object); diff != "" {
		t.Errorf("the refusal changed the Instance: %s", diff)
	}
}

// TestStatusWords: a run cannot be given a status that no reader of it knows.
func TestStatusWords(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	run := env.Create(t, ns, "planexecutions", harness.Execution("hold", "db", "backup")).Field(t, "metadata", "name")
	for _, word := range []string{"Complete", "", "NEVER_RUN"} {
		env.Expect(t, http.StatusUnprocessableEntity, harness.Request{Method: "PATCH", Type: harness.MergePatch,
			Path: harness.Path(ns, "planexecutions", run, "status"), Body: `{"status":{"status":"` + word + `"}}`}, "status.status")
	}
	env.Expect(t, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(ns, "planexecutions", run)})
}

// TestForeignVersionNeedsTheRightToReadIt: an Instance is no way to read the OperatorVersions of other namespaces.
func TestForeignVersionNeedsTheRightToReadIt(t *testing.T) {
	t.Parallel()
	own, foreign := env.Namespace(t), env.Namespace(t)
	env.Create(t, foreign, "operatorversions", harness.Version)
	env.Grant(t, own, "alice", "create,get instances")
	post := harness.Request{User: "alice", Method: "POST", Path: harness.Path(own, "instances"),
		Body: strings.Replace(harness.Instance("db"), "{name: demo-1.0.0}", "{name: demo-1.0.0, namespace: "+foreign+"}", 1)}
	env.Expect(t, http.StatusForbidden, post, "operatorversions", foreign)
	missing := post
	missing.Body = strings.Replace(post.Body, "demo-1.0.0", "nothing-1.0.0", 1)
	env.Expect(t, http.StatusForbidden, missing, "operatorversions", foreign)
	if names := env.Names(t, harness.Path(own, "operatorversionrevisions")); len(names) > 0 {
		t.Errorf("the refusal left revisions: %v", names)
	}
	env.Grant(t, foreign, "alice", "get operatorversions")
	env.Until(t, 10*time.Second, "the grant to count, which refusals that are remembered delay", func() error {
		if got := env.Send(t, post); got.Code != http.StatusCreated {
			return errors.New(got.Text())
		}
		return nil
	})
	env.Idle(t, own, "db")
}
