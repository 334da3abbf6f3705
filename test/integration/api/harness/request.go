// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package harness

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/test/cluster"
)

// Media types of requests.
const (
	JSON           = "application/json"
	YAML           = "application/yaml"
	JSONPatch      = "application/json-patch+json"
	MergePatch     = "application/merge-patch+json"
	StrategicPatch = "application/strategic-merge-patch+json"
	Apply          = "application/apply-patch+yaml"
)

// Request is a request through kube-apiserver.
type Request struct {
	// User is the administrator if it is empty.
	User   string
	Method string
	// Path with its query.
	Path string
	// Type of the body. Default: YAML, of which JSON is a part.
	Type   string
	Accept string
	Body   string
}

// Response is what was answered.
type Response struct {
	Code   int
	Body   string
	Header http.Header
}

// Send sends a request and reads the whole answer.
func (e *Env) Send(tb testing.TB, r Request) Response {
	tb.Helper()
	// Not the test's own context, which has ended when it cleans up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), time.Minute)
	defer cancel()
	resp := e.Open(ctx, tb, r)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return Response{resp.StatusCode, string(body), resp.Header}
}

// Open sends a request and leaves the answer to be read.
func (e *Env) Open(ctx context.Context, tb testing.TB, r Request) *http.Response {
	tb.Helper()
	if r.User == "" {
		r.User = cluster.Admin
	}
	config, err := e.Cluster.RESTConfig(r.User)
	if err != nil {
		tb.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, e.Cluster.URL()+r.Path, strings.NewReader(r.Body))
	if err != nil {
		tb.Fatal(err)
	}
	switch {
	case r.Type != "":
		req.Header.Set("Content-Type", r.Type)
	case r.Body != "":
		req.Header.Set("Content-Type", YAML)
	}
	if r.Accept == "" {
		r.Accept = JSON
	}
	req.Header.Set("Accept", r.Accept)
	resp, err := client.Do(req)
	if err != nil {
		tb.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return resp
}

// Expect sends a request and fails the test unless the answer has the code and its text contains all that is named.
func (e *Env) Expect(tb testing.TB, code int, r Request, contains ...string) Response {
	tb.Helper()
	got := e.Send(tb, r)
	if got.Code != code {
		tb.Fatalf("%s %s as %s: got %d, want %d: %s", r.Method, r.Path, r.User, got.Code, code, got.Text())
	}
	for _, text := range contains {
		if !strings.Contains(got.Text(), text) {
			tb.Errorf("%s %s as %s: the answer lacks %q: %s", r.Method, r.Path, r.User, text, got.Text())
		}
	}
	return got
}

// Text is the message if the answer is a Status, and else the body, cut to a readable length.
func (r Response) Text() string {
	var status metav1.Status
	if json.Unmarshal([]byte(r.Body), &status) == nil && status.Kind == "Status" && status.Message != "" {
		return status.Message
	}
	if len(r.Body) > 4000 {
		return r.Body[:4000] + "…"
	}
	return r.Body
}

// Object is the answer as an object, or an empty one if it is none.
func (r Response) Object(tb testing.TB) *unstructured.Unstructured {
	tb.Helper()
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(r.Body), &object.Object); err != nil {
		tb.Fatalf("not an object: %v: %s", err, r.Text())
	}
	return object
}

// Field reads a field of the answer as text; it is empty if the field is absent.
func (r Response) Field(tb testing.TB, path ...string) string {
	tb.Helper()
	return Field(r.Object(tb), path...)
}
