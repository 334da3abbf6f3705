// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/test/integration/api/harness"
)

// post creates the Instance of the scene with the rest of the spec, which may be empty.
func post(spec string) send {
	return func(s *scene) harness.Request {
		return harness.Request{Method: http.MethodPost, Path: harness.Path(s.ns, "instances"),
			Body: fmt.Sprintf("{apiVersion: kudo.dev/v1beta1, kind: Instance, metadata: {name: %s}, spec: {operatorVersion: {name: %s}%s}}", s.name, s.version, spec)}
	}
}

// apply is a server-side apply of the Instance as it was created.
func apply(s *scene) harness.Request {
	return harness.Request{Method: http.MethodPatch, Path: s.path() + "?fieldManager=me&force=true", Type: harness.Apply, Body: instance(s.name, s.version)}
}

// taken is the answer for a name that is taken.
func taken() answer {
	a := refused(http.StatusConflict, `"{instance}" already exists`)
	a.reason = metav1.StatusReasonAlreadyExists
	return a
}

func TestCreate(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"POST", post(""),
			always(taken()).but(created("deploy", "Create"), absent).but(noVersion, versionGone)},
		// Nothing of the spec differs, so no plan starts; even in Instances that are held, whose lock the applied text does not mention.
		{"apply", apply,
			always(changes()).but(created("deploy", "Create"), absent)},
	})
}

// uses is a scene without an Instance, for one of the version.
func uses(version string) func(*scene) {
	return func(s *scene) { s.version = version }
}

func TestCreateSpecials(t *testing.T) {
	t.Parallel()
	ns := newTown(t,
		version("no-deploy", "update upgrade", "[]"),
		version("needy", "deploy", `[{name: NEED, required: true, description: what it is for}, {name: SORT, enum: [a, b], default: a}]`))
	deploy := created("deploy", "Create")
	finalizer := func(want string) answer { return deploy.leaves(want, "metadata", "finalizers") }
	checkSingle(t, ns, []single{
		{"OperatorVersion missing", uses("nosuch"), post(""),
			invalid("spec.operatorVersion.name", "nosuch", "kubectl get operatorversions -n")},
		{"no plan deploy", uses("no-deploy"), post(""),
			invalid("spec.operatorVersion", `no plan "deploy"`, "add one")},
		{"a required parameter is missing", uses("needy"), post(""),
			invalid("spec.parameters[NEED]", "requires a value", "what it is for")},
		{"a value outside the enum", uses("needy"), post(", parameters: {NEED: x, SORT: c}"),
			invalid("spec.parameters[SORT]", `"a", "b"`)},
		{"a value of the wrong type", uses("one"), post(", parameters: {COUNT: many}"),
			invalid("spec.parameters[COUNT]", "integer", "many")},
		{"all parameters are right", uses("needy"), post(", parameters: {NEED: x, SORT: b}"),
			deploy.leaves("x", "spec", "parameters", "NEED")},
		{"an unknown parameter", uses("one"), post(", parameters: {NOPE: x}"),
			deploy.leaves("x", "spec", "parameters", "NOPE")},
		{"immutable defaults are written down", uses("one"), post(""),
			deploy.leaves("map[FIXED:once]", "spec", "parameters")},
		{"immutable values stay as they are set", uses("one"), post(", parameters: {FIXED: mine}"),
			deploy.leaves("map[FIXED:mine]", "spec", "parameters")},
		{"a version with cleanup", uses("one"), post(""), finalizer("[kudo.dev.instance.cleanup]")},
		{"a version without cleanup", uses("plain"), post(""), finalizer("")},
		{"without the right to start plans by name", uses("one"), post("").as(alice), deploy},
		{"a planExecution of the client's", uses("one"),
			post(", planExecution: {planName: backup, uid: mine, status: COMPLETE, template: {name: mine, spec: {instanceName: x, planName: restore}}}"), deploy},
		{"a status of the client's", uses("one"), func(s *scene) harness.Request {
			r := post("")(s)
			r.Body = strings.TrimSuffix(r.Body, "}") + ", status: {planStatus: {backup: {name: backup, status: COMPLETE, uid: mine}}}}"
			return r
		}, deploy.leaves("", "status", "planStatus", "backup")},
		{"a finalizer of the client's", uses("one"), func(s *scene) harness.Request {
			r := post("")(s)
			r.Body = strings.Replace(r.Body, "metadata: {", "metadata: {finalizers: [example.com/mine], ", 1)
			return r
		}, finalizer("[example.com/mine kudo.dev.instance.cleanup]")},
	})
}
