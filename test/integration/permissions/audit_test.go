// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package permissions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kudo.dev/kudo/test/cluster"
)

const (
	verbAnnotation    = "kudo.dev/plan-trigger-verb"
	missingAnnotation = "kudo.dev/plan-trigger-missing-verbs"
)

// event is a request in the audit log.
type event struct {
	Verb, RequestURI string
	User             struct{ Username string }
	ObjectRef        struct{ Namespace, Resource, Subresource string }
	ResponseStatus   struct{ Code int }
	Annotations      map[string]string
}

// audited waits for the events of a user's requests in a namespace whose URI contains the text, and returns what the annotations of KUDO
// say in each.
func audited(t *testing.T, namespace, user, verb, uri string, count int) []event {
	t.Helper()
	var found []event
	env.Until(t, patience, "the audit log to have "+uri, func() error {
		data, err := os.ReadFile(auditLog)
		if err != nil {
			return err
		}
		found = nil
		for line := range bytes.Lines(data) {
			var e event
			if json.Unmarshal(line, &e) != nil {
				continue // the last line is being written
			}
			if e.ObjectRef.Namespace == namespace && e.User.Username == user && e.Verb == verb && strings.Contains(e.RequestURI, uri) {
				found = append(found, e)
			}
		}
		if len(found) != count {
			return fmt.Errorf("%d events, want %d", len(found), count)
		}
		return nil
	})
	return found
}

// kudoAnnotations are the annotations of an event about the right to run a plan.
func kudoAnnotations(e event) map[string]string {
	out := map[string]string{}
	for key, value := range e.Annotations {
		if strings.HasPrefix(key, "kudo.dev/plan-trigger") {
			out[key] = value
		}
	}
	return out
}

// TestAudit: the log of the server says by which verb a run was allowed, and which verbs were missing for one that was refused, on every
// path; and nothing where somebody only looked at what they may.
func TestAudit(t *testing.T) {
	t.Parallel()
	ns := env.Installed(t, "db")
	rules := []string{"create,patch planexecutions", "get,update,patch instances", "create,get instances/plans"}
	env.Grant(t, ns, cluster.Alice, append(rules, "trigger:backup instances/plans db")...)
	env.Grant(t, ns, cluster.Bob, append(rules, "trigger instances/plans db")...)
	verbs := map[string]string{"POST": "create", "PATCH": "patch", "PUT": "update"}
	n := 0
	for name, p := range paths {
		for _, tc := range []struct {
			user, plan string
			code       int
			want       map[string]string
		}{
			{cluster.Alice, "backup", p.code, map[string]string{verbAnnotation: "trigger:backup"}},
			{cluster.Alice, "restore", http.StatusForbidden, map[string]string{missingAnnotation: "trigger:restore,trigger"}},
			{cluster.Bob, "restore", p.code, map[string]string{verbAnnotation: "trigger"}},
		} {
			n++
			// A timeout of its own makes each request findable.
			mark := fmt.Sprintf("timeout=%dms", 20000+n)
			r := as(tc.user, p.request(t, ns, "db", tc.plan, "?dryRun=All&"+mark))
			env.Expect(t, tc.code, r)
			e := audited(t, ns, tc.user, verbs[r.Method], mark, 1)[0]
			if diff := cmp.Diff(tc.want, kudoAnnotations(e)); diff != "" || e.ResponseStatus.Code != tc.code {
				t.Errorf("%s: %s %s: code %d: %s", name, tc.user, tc.plan, e.ResponseStatus.Code, diff)
			}
		}
	}
	get := as(cluster.Alice, paths["POST plans"].request(t, ns, "db", "", ""))
	get.Method, get.Body = "GET", ""
	env.Expect(t, http.StatusOK, get)
	if got := kudoAnnotations(audited(t, ns, cluster.Alice, "get", "/plans", 1)[0]); len(got) > 0 {
		t.Errorf("a look at the plans is annotated: %v", got)
	}
}

// TestMetric: each decision about a request is counted once. Not in parallel: it counts.
func TestMetric(t *testing.T) {
	ns := env.Installed(t, "db")
	env.Grant(t, ns, cluster.Alice, "create,patch planexecutions", "get,update,patch instances", "create,get,trigger:backup instances/plans")
	before := decisions(t)
	for _, p := range paths {
		for plan, decision := range map[string]string{"backup": "allow", "restore": "deny"} {
			env.Send(t, as(cluster.Alice, p.request(t, ns, "db", plan, "?dryRun=All")))
			before[decision]++
		}
	}
	look := as(cluster.Alice, paths["POST plans"].request(t, ns, "db", "", ""))
	look.Method, look.Body = "GET", ""
	env.Expect(t, http.StatusOK, look)
	if diff := cmp.Diff(before, decisions(t)); diff != "" {
		t.Errorf("the counters differ:\n%s", diff)
	}
}

// decisions reads the counters from the metrics of the server, which must have their help.
func decisions(t *testing.T) map[string]float64 {
	t.Helper()
	const name = "kudo_plan_authorization_total"
	out := map[string]float64{}
	text := env.Direct(t, "/metrics")
	if !strings.Contains(text, "# HELP "+name+" [ALPHA] Requests to run a plan") || !strings.Contains(text, "# TYPE "+name+" counter") {
		t.Errorf("%s has no help", name)
	}
	for line := range strings.Lines(text) {
		for _, decision := range []string{"allow", "deny", "error"} {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+`{decision="`+decision+`"} `); ok {
				n, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				out[decision] = n
			}
		}
	}
	if len(out) != 3 {
		t.Errorf("the counters are %v", out)
	}
	return out
}
