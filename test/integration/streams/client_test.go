// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package streams

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// line is a line of a log in JSON: an entry or a notice.
type line struct {
	v1beta1.PlanExecutionLogEntry
	Notice        string `json:"notice"`
	SinceSequence int64  `json:"sinceSequence"`
	Dropped       int64  `json:"dropped"`
	raw           string
}

// over tells of the line that says that the run has ended.
func (l *line) over() bool { return l.Sequence > 0 && l.Phase == "" && l.Status.IsTerminal() }

// client sends requests through kube-apiserver.
type client struct {
	http *http.Client
	url  string
}

func newClient(t *testing.T, l *lab.Lab, user string) *client {
	t.Helper()
	config, err := l.Cluster.RESTConfig(user)
	must(t, err)
	h, err := rest.HTTPClientFor(config)
	must(t, err)
	return &client{h, l.Cluster.URL()}
}

func path(pe *v1beta1.PlanExecution, rest string) string {
	return "/apis/kudo.dev/v1beta1/namespaces/" + pe.Namespace + "/planexecutions/" + pe.Name + rest
}

// open starts a GET. An answer that is not 200 is an error with its text.
func (c *client) open(ctx context.Context, path string, accept ...string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	for _, a := range accept {
		req.Header.Set("Accept", a)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("%d: %s", resp.StatusCode, body)
	}
	return resp.Body, nil
}

// text is a whole answer.
func (c *client) text(t *testing.T, path string, accept ...string) string {
	t.Helper()
	body, err := c.open(patient(t), path, accept...)
	must(t, err)
	defer body.Close()
	data, err := io.ReadAll(body)
	must(t, err)
	return string(data)
}

// follow calls see with every line after an entry until the stream ends, which is no error, or see returns false.
func (c *client) follow(ctx context.Context, pe *v1beta1.PlanExecution, since int64, see func(*line) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := c.open(ctx, path(pe, fmt.Sprintf("/log?follow=true&format=json&sinceSequence=%d", since)))
	if err != nil {
		return err
	}
	defer body.Close()
	return lines(body, see)
}

func lines(body io.Reader, see func(*line) bool) error {
	scanner := bufio.NewScanner(body)
	for scanner.Scan() {
		l := &line{raw: scanner.Text()}
		if err := json.Unmarshal(scanner.Bytes(), l); err != nil {
			return fmt.Errorf("%w: %q", err, l.raw)
		}
		if !see(l) {
			return nil
		}
	}
	return scanner.Err()
}

// whole is the log of a run that has ended, which must be gapless.
func whole(t *testing.T, c *client, pe *v1beta1.PlanExecution) string {
	t.Helper()
	all := c.text(t, path(pe, "/log?format=json"))
	var last line
	must(t, lines(strings.NewReader(all), func(l *line) bool {
		if l.Sequence != last.Sequence+1 {
			t.Fatalf("after #%d: %s", last.Sequence, l.raw)
		}
		last = *l
		return true
	}))
	if !last.over() {
		t.Fatalf("the log ends with %s", last.raw)
	}
	return all
}

func admin(t *testing.T, l *lab.Lab) *client {
	t.Helper()
	return newClient(t, l, cluster.Admin)
}
