// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

// scene is where one request is sent: an Instance in a state.
type scene struct {
	*testing.T
	ns, name string
	// version is the name of the OperatorVersion.
	version string
	// run is the one that holds the Instance or ended last, deploy the first one.
	run, deploy string
	// request, and what there was before and after it.
	request       harness.Request
	before, after snapshot
}

var scenes atomic.Int64

// state brings a new Instance into a state.
type state struct {
	name string
	make func(*scene)
}

// Names of the states.
const (
	absent        = "no Instance"
	idle          = "deployed"
	failed        = "deploy failed"
	deploying     = "deploy runs"
	backingUp     = "backup runs"
	updating      = "update runs"
	held          = "restore is suspended"
	deleting      = "cleanup runs"
	cleanupFailed = "cleanup failed"
	versionGone   = "OperatorVersion gone"
	plain         = "no plan cleanup"
)

// Groups of states.
var (
	busy  = []string{deploying, backingUp, updating, held}
	dying = []string{deleting, cleanupFailed}
)

var states = []state{
	{absent, func(*scene) {}},
	{idle, deployed},
	{failed, func(s *scene) {
		s.create()
		s.report(s.run, "FATAL_ERROR")
	}},
	{deploying, func(s *scene) {
		s.create()
		s.report(s.run, "IN_PROGRESS")
	}},
	{backingUp, func(s *scene) {
		deployed(s)
		s.start(http.StatusCreated, harness.Request{Method: "POST", Path: s.path("plans", "backup:trigger")})
		s.report(s.run, "IN_PROGRESS")
	}},
	{updating, func(s *scene) {
		deployed(s)
		s.start(http.StatusOK, patch(`{"spec":{"parameters":{"SIZE":"7"}}}`)(s))
		s.report(s.run, "IN_PROGRESS")
	}},
	{held, func(s *scene) {
		deployed(s)
		s.start(http.StatusCreated, harness.Request{Method: "POST", Path: harness.Path(s.ns, "planexecutions"),
			Body: strings.Replace(harness.Execution(s.name+"-held", s.name, "restore"), "spec: {", "spec: {suspend: true, ", 1)})
	}},
	{deleting, deleted},
	{cleanupFailed, func(s *scene) {
		deleted(s)
		s.report(s.run, "FATAL_ERROR")
	}},
	{versionGone, func(s *scene) {
		s.version = "of-" + s.name
		env.Create(s.T, s.ns, "operatorversions", version(s.version, allPlans, parameters))
		deployed(s)
		env.Expect(s.T, http.StatusOK, harness.Request{Method: "DELETE", Path: harness.Path(s.ns, "operatorversions", s.version)})
	}},
	{plain, func(s *scene) {
		s.version = "plain"
		deployed(s)
	}},
}

// stateOf is a state by its name.
func stateOf(name string) func(*scene) {
	for _, s := range states {
		if s.name == name {
			return s.make
		}
	}
	return func(s *scene) { s.Fatalf("no state %q", name) }
}

// deployed is the state of an Instance that nothing is done with.
func deployed(s *scene) {
	s.Helper()
	s.create()
	s.report(s.run, "COMPLETE")
}

// deleted is the state of an Instance whose cleanup runs.
func deleted(s *scene) {
	s.Helper()
	deployed(s)
	s.start(http.StatusOK, remove(s))
	s.report(s.run, "IN_PROGRESS")
}

// path is the path of the Instance and of what lies below it.
func (s *scene) path(below ...string) string {
	return harness.Path(s.ns, append([]string{"instances", s.name}, below...)...)
}

// snapshot is all that is stored of an Instance.
type snapshot struct {
	// Instance is nil if there is none.
	Instance  *unstructured.Unstructured
	Runs      map[string]*unstructured.Unstructured
	Revisions map[string]*unstructured.Unstructured
}

// look reads what is stored of the Instance.
func (s *scene) look() snapshot {
	s.Helper()
	seen := snapshot{
		Runs:      s.list("planexecutions?fieldSelector=spec.instanceName=" + s.name),
		Revisions: s.list("operatorversionrevisions?labelSelector=kudo.dev/instance=" + s.name),
	}
	switch got := env.Send(s.T, harness.Request{Method: "GET", Path: s.path()}); got.Code {
	case http.StatusOK:
		seen.Instance = got.Object(s.T)
	case http.StatusNotFound:
	default:
		s.Fatalf("read the Instance: %d: %s", got.Code, got.Text())
	}
	return seen
}

func (s *scene) list(query string) map[string]*unstructured.Unstructured {
	s.Helper()
	list, err := env.Expect(s.T, http.StatusOK, harness.Request{Method: "GET", Path: harness.Path(s.ns, query)}).Object(s.T).ToList()
	if err != nil {
		s.Fatal(err)
	}
	items := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		items[list.Items[i].GetName()] = &list.Items[i]
	}
	return items
}

// field of the Instance as it was before the request.
func (s *scene) field(path ...string) string {
	if s.before.Instance == nil {
		return ""
	}
	return harness.Field(s.before.Instance, path...)
}

// holder is the name of the run that held the Instance before the request; empty if none did.
func (s *scene) holder() string { return s.field("spec", "planExecution", "template", "name") }
