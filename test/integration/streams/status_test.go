// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// watched is what a watch of a status brought, to its end.
type watched struct {
	// states are the events but the last, by type and version.
	states []string
	last   *v1beta1.PlanExecution
	// status and version are those of the last state.
	status  v1beta1.ExecutionStatus
	version string
	err     error
}

// why is the reason in the last event.
func (w *watched) why() string {
	if w.last == nil {
		return ""
	}
	return w.last.Annotations[v1beta1.StreamEndedAnnotation]
}

// watchStatus begins to watch; the rest of the query may be empty. It returns when the server has answered.
func watchStatus(ctx context.Context, c *client, pe *v1beta1.PlanExecution, query string) <-chan watched {
	result := make(chan watched, 1)
	body, err := c.open(ctx, path(pe, "/status?watch=true"+query))
	if err != nil {
		result <- watched{err: err}
		return result
	}
	go func() {
		defer body.Close()
		result <- readEvents(body, math.MaxInt)
	}()
	return result
}

// readEvents reads to the end, or until it has that many states.
func readEvents(body io.Reader, most int) (w watched) {
	decoder := json.NewDecoder(body)
	for len(w.states) < most {
		var event struct {
			Type   watch.EventType
			Object v1beta1.PlanExecution
		}
		switch err := decoder.Decode(&event); {
		case err == io.EOF:
			return w
		case err != nil:
			w.err = err
			return w
		case w.last != nil:
			w.err = fmt.Errorf("%s comes after the last event", event.Type)
			return w
		case event.Object.Kind != "PlanExecution":
			w.err = fmt.Errorf("%s of a %q", event.Type, event.Object.Kind)
			return w
		case event.Type == watch.Bookmark:
			w.last = &event.Object
		default:
			w.states = append(w.states, string(event.Type)+" "+event.Object.ResourceVersion)
			w.status, w.version = event.Object.Status.Status, event.Object.ResourceVersion
		}
	}
	return w
}

// collection records the states of a run by a watch of the collection, until it has ended.
func collection(ctx context.Context, t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) <-chan []string {
	t.Helper()
	w, err := l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + pe.Name})
	must(t, err)
	result := make(chan []string, 1)
	go func() {
		defer w.Stop()
		var states []string
		for event := range w.ResultChan() {
			run, ok := event.Object.(*v1beta1.PlanExecution)
			if !ok {
				break
			}
			states = append(states, string(event.Type)+" "+run.ResourceVersion)
			if run.Status.Status.IsTerminal() {
				break
			}
		}
		result <- states
	}()
	return result
}

// settled waits until a suspended run says so, so that two watches begin with the same state.
func settled(t *testing.T, l *lab.Lab, pe *v1beta1.PlanExecution) {
	t.Helper()
	l.Run(t, pe, "to be held", func(pe *v1beta1.PlanExecution) bool { return strings.Contains(pe.Status.Message, "held") })
}

// TestStatusWatch: it brings all states that a watch of the collection does, to the end, and says that it is the end.
func TestStatusWatch(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 20)
	settled(t, l, pe)
	c := admin(t, l)
	ctx := patient(t)
	want, begun := collection(ctx, t, l, pe), time.Now()
	all := watchStatus(ctx, c, pe, "")
	first := <-watchStatus(ctx, c, pe, "&timeoutSeconds=1")
	resumed := make(chan watched, 1)
	go func() { resumed <- inPieces(ctx, c, pe, first) }()
	resume(t, l, pe)
	states := <-want
	for name, got := range map[string]watched{"in one": <-all, "resumed": <-resumed} {
		if got.err != nil || got.why() != v1beta1.StreamEndedRunEnded || got.status != v1beta1.ExecutionComplete {
			t.Fatalf("%s: ended with %q, status %s: %v", name, got.why(), got.status, got.err)
		}
		if diff := cmp.Diff(states, got.states); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if end := states[len(states)-1]; !strings.HasSuffix(end, " "+got.last.ResourceVersion) {
			t.Errorf("%s: the last event has version %s, that before it is %s", name, got.last.ResourceVersion, end)
		}
	}
	t.Logf("%d states in %v", len(states), time.Since(begun).Round(time.Millisecond))
	again := <-watchStatus(ctx, c, pe, "")
	if again.err != nil || again.why() != v1beta1.StreamEndedRunEnded || len(again.states) != 1 {
		t.Errorf("after the end: %+v", again)
	}
	if plain := c.text(t, path(pe, "/status")); !strings.Contains(plain, `"kind":"PlanExecution"`) || strings.Contains(plain, `"type":"ADDED"`) {
		t.Errorf("the plain status is %.200s", plain)
	}
}

// inPieces goes on from a watch that has ended, and leaves each further one after a few states.
func inPieces(ctx context.Context, c *client, pe *v1beta1.PlanExecution, all watched) watched {
	for all.err == nil && all.why() != v1beta1.StreamEndedRunEnded {
		from := all.version
		if all.last != nil {
			from = all.last.ResourceVersion
		}
		body, err := c.open(ctx, path(pe, "/status?watch=true&resourceVersion="+from))
		if err != nil {
			all.err = err
			return all
		}
		got := readEvents(body, 3)
		body.Close()
		if len(got.states) == 0 {
			got.status, got.version = all.status, all.version
		}
		got.states = slices.Concat(all.states, got.states)
		all = got
	}
	return all
}

// TestStatusWatchEndsByItself: after the time that the client gives, and not with the end of the run only.
func TestStatusWatchEndsByItself(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 1)
	settled(t, l, pe)
	c := admin(t, l)
	begin := time.Now()
	got := <-watchStatus(patient(t), c, pe, "&timeoutSeconds=3")
	if took := time.Since(begin); took < 3*time.Second || took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if got.err != nil || got.why() != v1beta1.StreamEndedTimeLimit || len(got.states) != 1 || !strings.HasSuffix(got.states[0], got.last.ResourceVersion) {
		t.Errorf("got %+v", got)
	}
	// The version is from before the server started, but the run has not changed since.
	must(t, l.KUDO.KillServer())
	must(t, l.KUDO.StartServer(t.Context()))
	rest := watchStatus(patient(t), c, pe, "&resourceVersion="+got.last.ResourceVersion)
	resume(t, l, pe)
	if end := <-rest; end.err != nil || end.why() != v1beta1.StreamEndedRunEnded || end.status != v1beta1.ExecutionComplete || len(end.states) < 2 {
		t.Errorf("resumed: %+v", end)
	}
	// Now it has, and those states are gone with the server that knew them.
	must(t, l.KUDO.KillServer())
	must(t, l.KUDO.StartServer(t.Context()))
	for query, want := range map[string][]string{
		"&resourceVersion=" + got.last.ResourceVersion: {"410", "too old", "leave resourceVersion out", "status.log"},
		"&resourceVersion=99999999":                    {"410", "not of this storage"},
		"&resourceVersion=x":                           {"400", "resourceVersion: Invalid value"},
		"&timeoutSeconds=x":                            {"400", "timeoutSeconds: Invalid value"},
		"&labelSelector=a%3Db":                         {"400", "labelSelector: Forbidden", "planexecutions?watch=true"},
	} {
		if got := <-watchStatus(patient(t), c, pe, query); got.err == nil {
			t.Errorf("%s: %+v", query, got)
		} else {
			has(t, got.err.Error(), want...)
		}
	}
}

// TestStatusWatchOfADeletedRun: the deletion is seen, and the end of the stream says so.
func TestStatusWatchOfADeletedRun(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 1)
	settled(t, l, pe)
	got := watchStatus(patient(t), admin(t, l), pe, "")
	must(t, l.Kudo.KudoV1beta1().PlanExecutions(pe.Namespace).Delete(t.Context(), pe.Name, metav1.DeleteOptions{}))
	if end := <-got; end.err != nil || end.why() != v1beta1.StreamEndedDeleted || !strings.HasPrefix(end.states[len(end.states)-1], "DELETED ") {
		t.Errorf("got %+v", end)
	}
}

// TestStatusWatchForms: what a watch of a collection can be had as, this one can too.
func TestStatusWatchForms(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 1)
	c := admin(t, l)
	for accept, want := range map[string]string{
		"application/json;stream=watch":                        `{"type":"ADDED","object":{"kind":"PlanExecution"`,
		"application/json":                                     `{"type":"BOOKMARK","object":{"kind":"PlanExecution"`,
		"application/json;as=Table;g=meta.k8s.io;v=v1":         `"kind":"Table"`,
		"application/vnd.kubernetes.protobuf;stream=watch":     "ADDED",
		"application/json;stream=watch, application/json, */*": `"kudo.dev/stream-ended":"TimeLimit"`,
	} {
		has(t, c.text(t, path(pe, "/status?watch=1&timeoutSeconds=1"), accept), want)
	}
}

// TestStatusWatchPermission: who may get the status may watch it, and nobody else.
func TestStatusWatchPermission(t *testing.T) {
	l := room.Enter(t)
	pe := held(t, l, 1)
	alice := newClient(t, l, cluster.Alice)
	if got := <-watchStatus(patient(t), alice, pe, "&timeoutSeconds=1"); got.err == nil || !strings.HasPrefix(got.err.Error(), "403") {
		t.Fatalf("without permission: %+v", got)
	}
	meta := metav1.ObjectMeta{Name: "status-reader", Namespace: pe.Namespace}
	rbac := l.Kube.RbacV1()
	_, err := rbac.Roles(pe.Namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"kudo.dev"}, Resources: []string{"planexecutions/status"}, Verbs: []string{"get"}}}}, metav1.CreateOptions{})
	must(t, err)
	_, err = rbac.RoleBindings(pe.Namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: cluster.Alice}}}, metav1.CreateOptions{})
	must(t, err)
	ctx := patient(t)
	for {
		got := <-watchStatus(ctx, alice, pe, "&timeoutSeconds=1")
		if got.err == nil && got.why() == v1beta1.StreamEndedTimeLimit {
			return
		}
		if got.err == nil || !strings.HasPrefix(got.err.Error(), "403") {
			t.Fatalf("with permission: %+v", got)
		}
		select { // a refusal is remembered for seconds
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestStatusWatchIsDocumented: OpenAPI has the parameters of the watch.
func TestStatusWatchIsDocumented(t *testing.T) {
	l := room.Enter(t)
	var document struct {
		Paths map[string]struct {
			Get struct{ Parameters []struct{ Name string } }
		}
	}
	must(t, json.Unmarshal([]byte(admin(t, l).text(t, "/openapi/v3/apis/kudo.dev/v1beta1", "application/json")), &document))
	var names []string
	for _, p := range document.Paths["/apis/kudo.dev/v1beta1/namespaces/{namespace}/planexecutions/{name}/status"].Get.Parameters {
		names = append(names, p.Name)
	}
	for _, want := range []string{"watch", "resourceVersion", "timeoutSeconds"} {
		if !slices.Contains(names, want) {
			t.Errorf("no parameter %s among %v", want, names)
		}
	}
}
