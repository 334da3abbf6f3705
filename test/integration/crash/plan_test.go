// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package crash

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/runs/lab"
)

const steps = 20

// stepName is also the name of the objects of the step.
func stepName(i int) string { return fmt.Sprintf("s%02d", i) }

// kind is what a step does.
type kind string

const (
	configMap  kind = "ConfigMap"
	deployment kind = "Deployment"
	job        kind = "Job"
	// deletion is of the Job of the step before.
	deletion kind = "deletion"
	nothing  kind = "nothing"
)

// kindOf has few Jobs, because each takes more than a second.
func kindOf(step int) kind {
	return []kind{configMap, deployment, job, deletion, nothing, configMap, deployment, configMap, nothing, configMap}[step%10]
}

// operator has a plan "work" of serial steps of all kinds: ConfigMaps, Deployments, Jobs that the next step deletes, and
// steps that do nothing. A second plan "short" is for tests that are not about steps. The parameter round changes what is
// applied.
func operator() lab.Operator {
	o := lab.Operator{Templates: map[string]string{}, Plans: map[string]v1beta1.Plan{}}
	var list []string
	for i := range steps {
		name := stepName(i)
		list = append(list, name)
		switch kindOf(i) {
		case deployment:
			o.Templates[name] = strings.Replace(lab.Workload("Deployment", name, ""), "labels: {", `labels: {round: "{{ .Params.round }}", `, 1)
		case job:
			o.Templates[name] = lab.Job(name, "")
		case deletion:
			o.Tasks = append(o.Tasks, lab.Delete(name, stepName(i-1)))
			continue
		case nothing:
			o.Tasks = append(o.Tasks, lab.Done(name))
			continue
		default:
			o.Templates[name] = lab.ConfigMap(name, "{{ .Params.round }}")
		}
		o.Tasks = append(o.Tasks, lab.Apply(name, name))
	}
	o.Parameters = []v1beta1.Parameter{lab.Parameter("round", "0")}
	o.Plans["work"] = lab.Serial(list...)
	o.Plans["short"] = lab.Serial(stepName(0), stepName(4), stepName(5))
	return o
}

// installed makes a namespace with an Instance of the operator.
func installed(t *testing.T, l *lab.Lab) string {
	t.Helper()
	ns := l.Namespace(t)
	l.Deployed(t, ns, operator())
	// Every run is audited in the end, so none may go for its age.
	all := []byte(`{"spec":{"successfulRunsHistoryLimit":10000,"failedRunsHistoryLimit":10000}}`)
	if _, err := l.Kudo.KudoV1beta1().Instances(ns).Patch(t.Context(), "sample", types.MergePatchType, all, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	return ns
}
