// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// forgedSpec is what only the server writes into a run, as somebody might wish it to be.
const forgedSpec = `"requestedBy":{"username":"root","uid":"0","groups":["system:masters"],"extra":{"a":["b"]}},"trigger":"Schedule",
"operatorVersion":{"name":"evil","namespace":"kube-system"},"revisionName":"evil","instanceParameters":{"SIZE":"666"}`

// genuine checks that a run says who asked for it, and nothing that was forged.
func genuine(t *testing.T, run harness.Response, user string) {
	t.Helper()
	o := run.Object(t)
	for path, want := range map[string]string{
		"spec.requestedBy.username": user, "spec.requestedBy.uid": "uid-of-" + user, "spec.requestedBy.groups": "[system:authenticated]",
		"spec.requestedBy.extra": "", "spec.trigger": "Manual", "spec.operatorVersion.name": "demo-1.0.0",
		"spec.operatorVersion.namespace": o.GetNamespace(), "spec.instanceName": "db", "spec.planName": "backup",
		"spec.instanceParameters.SIZE": "", "status.status": "PENDING", "status.completionTime": "", "metadata.deletionTimestamp": "",
	} {
		if got := harness.Field(o, strings.Split(path, ".")...); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if o.GetUID() == "" || o.GetUID() == "forged" || !strings.HasPrefix(harness.Field(o, "spec", "revisionName"), "db-") {
		t.Errorf("uid %s, revision %s", o.GetUID(), harness.Field(o, "spec", "revisionName"))
	}
	owners := o.GetOwnerReferences()
	if len(owners) != 1 || owners[0].Kind != "Instance" || owners[0].Name != "db" || owners[0].UID == "forged" {
		t.Errorf("owners %v", owners)
	}
	lock := env.Get(t, o.GetNamespace(), "instances", "db")
	if got := harness.Field(lock, "spec", "planExecution", "uid"); got != string(o.GetUID()) {
		t.Errorf("the lock has uid %s and the run %s", got, o.GetUID())
	}
	if got := harness.Field(lock, "spec", "planExecution", "template", "spec", "requestedBy", "username"); got != user {
		t.Errorf("the lock says that %q asked for it", got)
	}
}

// TestForgedCreation: what a new run says of itself is written by the server, on every path.
func TestForgedCreation(t *testing.T) {
	t.Parallel()
	const uid, metadata = `"uid":"forged",`, `"creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":"2001-01-01T00:00:00Z","generation":7,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"evil","uid":"forged","controller":true}]`
	const spec = `"instanceName":"db","planName":"backup",` + forgedSpec
	const status = `"status":{"status":"COMPLETE","completionTime":"2001-01-01T00:00:00Z"}`
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create,trigger:backup instances/plans db", "create,patch,get planexecutions", "get,patch instances")
	plans := harness.Path(ns, "instances", "db", "plans")
	run := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"kudo.dev/v1beta1","kind":"PlanExecution","metadata":{%s"name":%q,%s},"spec":{%s},%s}`, uid, name, metadata, spec, status)
	}
	apply := harness.Request{Method: "PATCH", Type: harness.Apply, Path: harness.Path(ns, "planexecutions", "applied?fieldManager=test"), Body: run("applied", uid)}
	env.Expect(t, http.StatusConflict, as(cluster.Alice, apply), "uid mismatch")
	apply.Body = run("applied", "")
	for _, r := range []harness.Request{
		{Method: "POST", Type: harness.JSON, Path: harness.Path(ns, "planexecutions"), Body: run("posted", uid)},
		apply,
		{Method: "POST", Type: harness.JSON, Path: plans, Body: fmt.Sprintf(`{"planName":"backup","metadata":{%s},"spec":{%s},%s}`, uid+metadata, spec, status)},
		{Method: "POST", Type: harness.JSON, Path: plans + "/backup:trigger", Body: fmt.Sprintf(`{"metadata":{%s},"spec":{%s},%s}`, uid+metadata, spec, status)},
	} {
		genuine(t, env.Expect(t, http.StatusCreated, as(cluster.Alice, r)), cluster.Alice)
		env.Idle(t, ns, "db")
	}
	held := env.Expect(t, http.StatusOK, harness.Request{User: cluster.Alice, Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "instances", "db"),
		Body: fmt.Sprintf(`{"spec":{"planExecution":{"planName":"backup","uid":"forged","status":"COMPLETE","template":{"name":"forged","spec":{%s}}}}}`, spec)})
	name := held.Field(t, "spec", "planExecution", "template", "name")
	if name == "forged" {
		t.Errorf("the client named the run of the lock: %s", held.Text())
	}
	genuine(t, env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(ns, "planexecutions", name)}), cluster.Alice)
}

// TestForgedUpdate: nobody rewrites the history of a run, whether it holds the Instance or has ended; not by its status either.
func TestForgedUpdate(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create,trigger:backup instances/plans db")
	env.Grant(t, ns, cluster.Bob, "get,update,patch planexecutions,planexecutions/status", "get,update,patch instances")
	name := env.Expect(t, http.StatusCreated, as(cluster.Alice, paths["POST plans"].request(t, ns, "db", "backup", ""))).Object(t).GetName()
	object := harness.Path(ns, "planexecutions", name)
	read := func() harness.Response {
		return env.Expect(t, http.StatusOK, harness.Request{Method: "GET", Path: object})
	}
	specOf := func() string { return fmt.Sprint(read().Object(t).Object["spec"]) }
	before := specOf()
	forged := `{"spec":{` + forgedSpec + `},"status":{"status":"COMPLETE","message":"forged"}}`
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Bob, Method: "PATCH", Type: harness.MergePatch, Path: object, Body: forged})
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Bob, Method: "PATCH", Type: harness.MergePatch, Path: object + "/status",
		Body: `{"spec":{` + forgedSpec + `},"metadata":{"ownerReferences":[],"labels":{"kudo.dev/instance":"other"}}}`})
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Bob, Method: "PATCH", Type: harness.Apply, Path: object + "?fieldManager=test&force=true",
		Body: strings.Replace(forged, "{", fmt.Sprintf(`{"apiVersion":"kudo.dev/v1beta1","kind":"PlanExecution","metadata":{"name":%q},`, name), 1)})
	whole := read().Object(t)
	maps.Copy(whole.Object["spec"].(map[string]any), map[string]any{"requestedBy": map[string]any{"username": "root"}, "trigger": "Schedule", "revisionName": "evil"})
	whole.SetOwnerReferences(append(whole.GetOwnerReferences(), metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "none", UID: "none"}))
	body, err := whole.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Bob, Method: "PUT", Type: harness.JSON, Path: object, Body: string(body)})
	for _, body := range []string{`{"spec":{"planName":"restore"}}`, `{"spec":{"instanceName":"other"}}`, `{"spec":{"parameters":{"SIZE":"2"}}}`} {
		env.Expect(t, http.StatusUnprocessableEntity, harness.Request{User: cluster.Bob, Method: "PATCH", Type: harness.MergePatch, Path: object, Body: body}, "a run keeps what it started with")
	}
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Bob, Method: "PATCH", Type: harness.MergePatch, Path: harness.Path(ns, "instances", "db"),
		Body: `{"spec":{"planExecution":{"status":"COMPLETE","template":{"name":"forged","spec":{` + forgedSpec + `}}}}}`})
	same(t, "forging", before, specOf())
	genuine(t, read(), cluster.Alice)
	env.Idle(t, ns, "db")
	env.Expect(t, http.StatusOK, harness.Request{User: cluster.Bob, Method: "PATCH", Type: harness.MergePatch, Path: object, Body: forged})
	same(t, "forging of a run that has ended", before, specOf())
	if got := env.Names(t, harness.Path(ns, "planexecutions")); len(got) != 2 || !slices.Contains(got, name) {
		t.Errorf("runs %q", got)
	}
}
