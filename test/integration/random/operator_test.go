// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package random

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/test/integration/random/history"
	"kudo.dev/kudo/test/integration/runs/lab"
)

// Versions of the operator. bare has no cleanup.
const (
	first  = "v1"
	second = "v2"
	bare   = "bare"
)

// Plans that clients start, besides those with a fixed meaning.
const (
	// backup also runs when the parameter file changes.
	backup = "backup"
	quick  = "quick"
	// long has serial steps of all kinds.
	long = "long"
	// fails ends with an error after a step that is complete, and while another waits.
	fails = "fails"
	// waits goes on until somebody ends it.
	waits = "waits"
)

// cleanupParameter makes the cleanup fail.
const cleanupParameter = "cleanup"

// configMap is a template; the operation in it makes each run change the object.
func configMap(name string) string {
	return lab.ConfigMap("{{ .Name }}-"+name, "{{ .Params.operation }}")
}

func operatorVersion(name string) *v1beta1.OperatorVersion {
	spec := v1beta1.OperatorVersionSpec{
		Operator: v1beta1.ObjectReference{Name: "random"}, Version: "1.0.0",
		Templates: map[string]string{"cleanup": "{{ if eq .Params.cleanup \"fail\" }}{{ fail \"as the parameter says\" }}{{ end }}" + configMap("cleanup")},
		Parameters: []v1beta1.Parameter{
			lab.Parameter(history.OperationParameter, "0"), lab.Parameter("file", "none"), lab.Parameter(cleanupParameter, "ok"),
		},
		Tasks: []v1beta1.Task{
			lab.Done("done"), lab.Hold("hold"), lab.Apply("cleanup", "cleanup"), lab.Delete("remove", "a", "b"),
			{Name: "fatal", Kind: v1beta1.DummyTaskKind, Spec: v1beta1.TaskSpec{WantErr: true, Fatal: true}},
		},
		Plans: map[string]v1beta1.Plan{
			v1beta1.DeployPlanName:  lab.Serial("main", "done"),
			v1beta1.UpgradePlanName: lab.Serial("main", "a", "done"),
			backup:                  lab.Parallel("a", "b", "c"),
			quick:                   lab.Serial("done"),
			long:                    lab.Serial("one=a", "two=b,c", "three=done", "four=remove", "five=main", "six=a"),
			waits:                   lab.Serial("main", "hold"),
			fails: {Strategy: v1beta1.Serial, Phases: []v1beta1.Phase{
				{Name: "good", Steps: []v1beta1.Step{{Name: "main", Tasks: []string{"main"}}}},
				{Name: "bad", Strategy: v1beta1.Parallel, Steps: []v1beta1.Step{{Name: "hold", Tasks: []string{"done", "hold"}}, {Name: "fatal", Tasks: []string{"fatal"}}}},
				{Name: "never", Steps: []v1beta1.Step{{Name: "done", Tasks: []string{"done"}}}},
			}},
		},
	}
	spec.Parameters[1].Trigger = backup
	for _, object := range []string{"main", "a", "b", "c"} {
		spec.Templates[object] = configMap(object)
		spec.Tasks = append(spec.Tasks, lab.Apply(object, object))
	}
	if name != bare {
		spec.Plans[v1beta1.CleanupPlanName] = lab.Serial("remove", "cleanup")
	}
	return &v1beta1.OperatorVersion{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

// installOperator makes all versions of the operator in a namespace.
func installOperator(ctx context.Context, l *lab.Lab, namespace string) error {
	for _, name := range []string{first, second, bare} {
		if _, err := l.Kudo.KudoV1beta1().OperatorVersions(namespace).Create(ctx, operatorVersion(name), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("OperatorVersion %s: %w", name, err)
		}
	}
	return nil
}

// newInstance is an Instance that keeps all its runs, so that none of them goes unseen.
func newInstance(name, version, operation, cleanup string) *v1beta1.Instance {
	all := int32(10000)
	return &v1beta1.Instance{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.InstanceSpec{
		OperatorVersion: v1beta1.ObjectReference{Name: version}, SuccessfulRunsHistoryLimit: &all, FailedRunsHistoryLimit: &all,
		Parameters: map[string]string{history.OperationParameter: operation, cleanupParameter: cleanup},
	}}
}
