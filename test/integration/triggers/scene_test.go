// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// Who sends requests. The administrator brings Instances into their states, so that refusals name somebody else than the sender.
const (
	// bob may do everything with Instances and their runs.
	bob = cluster.Bob
	// alice may do everything with Instances but start plans by name, and cannot cancel runs.
	alice = cluster.Alice
)

// parameters of most OperatorVersions.
const parameters = `
  - {name: SIZE, default: "1"}
  - {name: COUNT, value-type: integer, default: "3"}
  - {name: COLOUR, enum: [red, blue], default: red}
  - {name: PRESET, default: none}
  - {name: FILE, trigger: backup, default: none}
  - {name: COPY, trigger: restore, default: none}
  - {name: WHOLE, trigger: deploy, default: none}
  - {name: LOST, trigger: nosuch, default: none}
  - {name: FIXED, immutable: true, default: once}
`

// allPlans are the plans of most OperatorVersions.
const allPlans = "deploy update upgrade backup restore cleanup"

// version is an OperatorVersion with the plans, whose names are separated by spaces.
func version(name, plans, parameters string) string {
	text := fmt.Sprintf("apiVersion: kudo.dev/v1beta1\nkind: OperatorVersion\nmetadata: {name: %s}\nspec:\n"+
		"  operator: {name: demo}\n  version: 1.0.0\n  parameters: %s\n  tasks: [{name: quick, kind: Dummy, spec: {done: true}}]\n  plans:\n", name, parameters)
	for plan := range strings.FieldsSeq(plans) {
		text += fmt.Sprintf("    %s: {phases: [{name: main, steps: [{name: only, tasks: [quick]}]}]}\n", plan)
	}
	return text
}

// granting gives alice and bob their rights, in every namespace.
var granting sync.Once

// newTown makes a namespace with the OperatorVersions one, of which most Instances are, plain, which has no cleanup, and others.
func newTown(t *testing.T, others ...string) string {
	t.Helper()
	ns := env.Namespace(t)
	for _, text := range append(others, version("one", allPlans, parameters), version("plain", "deploy update upgrade backup restore", parameters)) {
		env.Create(t, ns, "operatorversions", text)
	}
	granting.Do(func() {
		grant(t, ns, alice, "")
		grant(t, ns, bob, "- {apiGroups: [kudo.dev], verbs: [trigger], resources: [instances/plans]}\n"+
			"- {apiGroups: [kudo.dev], verbs: [create, patch], resources: [planexecutions/cancel, planexecutions/status]}\n")
	})
	return ns
}

// grant binds a role to a user: to do everything with Instances, to ask for plans and to read, create and delete PlanExecutions, as far
// as kube-apiserver is concerned, and the extra rules.
func grant(t *testing.T, ns, user, extra string) {
	t.Helper()
	const root = "/apis/rbac.authorization.k8s.io/v1/"
	env.Expect(t, http.StatusCreated, harness.Request{Method: http.MethodPost, Path: root + "clusterroles", Body: fmt.Sprintf(
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: of-%s}\nrules:\n"+
			"- {apiGroups: [kudo.dev], verbs: ['*'], resources: [instances, instances/status]}\n"+
			"- {apiGroups: [kudo.dev], verbs: [create], resources: [instances/plans]}\n%s"+
			"- {apiGroups: [kudo.dev], verbs: [get, list, create, delete], resources: [planexecutions]}\n", user, extra)})
	env.Expect(t, http.StatusCreated, harness.Request{Method: http.MethodPost, Path: root + "clusterrolebindings", Body: fmt.Sprintf(
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: of-%s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: of-%s}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]}", user, user, user)})
	env.Until(t, 20*time.Second, user+" to have rights", func() error {
		if !env.Can(t, user, ns, "create", "planexecutions", "") {
			return errors.New("not yet")
		}
		return nil
	})
}

// instance is a new Instance with a value that changes are made to, and one that no parameter defines.
func instance(name, version string) string {
	return fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: %s}, spec: {operatorVersion: {name: %s}, parameters: {PRESET: a, STALE: x}}}", name, version)
}

// newScene is a place for an Instance that does not exist yet.
func newScene(t *testing.T, ns string) *scene {
	t.Helper()
	return &scene{T: t, ns: ns, name: fmt.Sprintf("i%d", scenes.Add(1)), version: "one"}
}

// create creates the Instance, whose deploy plan runs then.
func (s *scene) create() {
	s.Helper()
	i := env.Create(s.T, s.ns, "instances", instance(s.name, s.version))
	s.run = i.Field(s.T, "spec", "planExecution", "template", "name")
	s.deploy = s.run
}

// report tells the status of a run, as the executor does.
func (s *scene) report(run, status string) {
	s.Helper()
	env.Expect(s.T, http.StatusOK, harness.Request{User: cluster.Executor, Method: "PATCH", Type: harness.MergePatch,
		Path: harness.Path(s.ns, "planexecutions", run, "status"), Body: fmt.Sprintf(`{"status":{"status":%q}}`, status)})
}

// start sends a request of the administrator after which a run holds the Instance.
func (s *scene) start(code int, r harness.Request) {
	s.Helper()
	env.Expect(s.T, code, r)
	s.run = harness.Field(env.Get(s.T, s.ns, "instances", s.name), "spec", "planExecution", "template", "name")
}
