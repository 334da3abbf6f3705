// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"net/http"
	"testing"

	"kudo.dev/kudo/test/integration/api/harness"
)

// row is one request and its answer in every state.
type row struct {
	name    string
	send    send
	answers columns
}

// send makes a request about the Instance of a scene.
type send func(*scene) harness.Request

// columns are answers by the name of the state.
type columns map[string]answer

// always is the same answer in all states in which there is an Instance, and 404 where there is none.
func always(a answer) columns {
	c := columns{}
	for _, s := range states {
		c[s.name] = a
	}
	return c.but(missing, absent)
}

// but is another answer in some states.
func (c columns) but(a answer, states ...string) columns {
	for _, s := range states {
		c[s] = a
	}
	return c
}

// check sends the request of each row in every state. Each row has a namespace of its own with the versions, because the server
// reads through all runs of a namespace to list those of one Instance.
func check(t *testing.T, rows []row, versions ...string) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			ns := newTown(t, versions...)
			for _, st := range states {
				want, ok := r.answers[st.name]
				if !ok || len(r.answers) != len(states) {
					t.Fatalf("there are answers for %d states, want one for each of %d", len(r.answers), len(states))
				}
				one(t, ns, st.name, st.make, r.send, want)
			}
		})
	}
}

// single is a request in a state of its own.
type single struct {
	name string
	make func(*scene)
	send send
	want answer
}

// checkSingle sends each request in its state.
func checkSingle(t *testing.T, ns string, cases []single) {
	t.Helper()
	for _, c := range cases {
		one(t, ns, c.name, c.make, c.send, c.want)
	}
}

func one(t *testing.T, ns, name string, prepare func(*scene), send send, want answer) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		s := newScene(t, ns)
		prepare(s)
		s.before = s.look()
		s.request = send(s)
		if s.request.User == "" {
			s.request.User = bob
		}
		s.meet(want)
	})
}

// as sends a request as another user than bob.
func (r send) as(user string) send {
	return func(s *scene) harness.Request {
		request := r(s)
		request.User = user
		return request
	}
}

// patch is a merge patch of the Instance.
func patch(body string) send {
	return func(s *scene) harness.Request {
		return harness.Request{Method: http.MethodPatch, Path: s.path(), Type: harness.MergePatch, Body: s.fill(body)}
	}
}

// set is a merge patch of parameters.
func set(parameters string) send { return patch(`{"spec":{"parameters":` + parameters + `}}`) }

// remove deletes the Instance.
func remove(s *scene) harness.Request {
	return harness.Request{Method: http.MethodDelete, Path: s.path()}
}
