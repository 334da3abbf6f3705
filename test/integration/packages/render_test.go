// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package packages

import (
	"strings"
	"testing"

	"kudo.dev/kudo/render"
)

// renders looks at a package that cannot be deployed here: each of its templates gives objects.
func (j *journey) renders(t *testing.T) {
	t.Helper()
	params := map[string]any{}
	for _, p := range j.version.Spec.Parameters {
		params[p.Name] = ""
		if p.Default != nil {
			params[p.Name] = *p.Default
		}
	}
	pods, pipes := map[string]bool{}, map[string]string{}
	for _, task := range j.version.Spec.Tasks {
		if task.Spec.Pod != "" {
			pods[task.Spec.Pod] = true
		}
		for _, pipe := range task.Spec.Pipe {
			pipes[pipe.Key] = "name-of-" + strings.ToLower(pipe.Key)
		}
	}
	v := render.Variables{OperatorName: j.content.Operator.Name, OperatorVersion: j.version.Spec.Version, AppVersion: j.version.Spec.AppVersion,
		Name: instance, Namespace: j.ns, PlanName: "deploy", PhaseName: "phase", StepName: "step", Params: params, Pipes: pipes}
	for name, text := range j.content.Templates {
		out, err := render.Template(name, text, v)
		if err != nil {
			t.Error(err)
			continue
		}
		if pods[name] {
			_, err = render.PipePod(name, out)
		} else {
			_, err = render.Objects(name, out)
		}
		if err != nil {
			t.Error(err)
		}
	}
	j.same = "rendered only"
}
