// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package pipe

import (
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

// podSuffix is the last part of the name of a pipe pod, where that of an artifact has its key.
const podSuffix = "pipepod"

// PodName is the name of the pod of a task, and ArtifactName that of what it stores under a key. Both are KUDO's: all parts in lower
// case, without what is neither a letter nor a digit.
func PodName(instance, plan, phase, step, task string) string {
	return name(instance, plan, phase, step, task, podSuffix)
}

// ArtifactName is the name of the Secret or ConfigMap of a key.
func ArtifactName(instance, plan, phase, step, task, key string) string {
	return name(instance, plan, phase, step, task, key)
}

func name(parts ...string) string {
	for i, part := range parts {
		parts[i] = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(part))
	}
	return strings.Join(parts, ".")
}

// Names are the artifacts of all Pipe tasks of a plan by their keys, as templates see them in .Pipes, whether or not they are there
// yet. It fails if two have one key or one name, or a name that Kubernetes would not take.
func Names(instance, planName string, plan *v1beta1.Plan, tasks []v1beta1.Task) (map[string]string, error) {
	defined := map[string]*v1beta1.Task{}
	for i := range tasks {
		defined[tasks[i].Name] = &tasks[i]
	}
	names, owners := map[string]string{}, map[string]string{}
	for _, phase := range plan.Phases {
		for _, step := range phase.Steps {
			for _, taskName := range step.Tasks {
				t := defined[taskName]
				if t == nil || t.Kind != v1beta1.PipeTaskKind {
					continue
				}
				where := strings.Join([]string{planName, phase.Name, step.Name, taskName}, ".")
				if err := nameable(where, PodName(instance, planName, phase.Name, step.Name, taskName)); err != nil {
					return nil, err
				}
				for _, p := range t.Spec.Pipe {
					n := ArtifactName(instance, planName, phase.Name, step.Name, taskName, p.Key)
					if err := nameable(where+", key "+p.Key, n); err != nil {
						return nil, err
					}
					if other := names[p.Key]; other != "" {
						return nil, fault.Finalf(fault.ReasonPipe, "%s: the key %q of a pipe is used more than once in plan %s, first by %s; templates could not tell the two apart: give one of them another key", where, p.Key, planName, owners[other])
					}
					if other := owners[n]; other != "" {
						return nil, fault.Finalf(fault.ReasonPipe, "%s: what is stored under the key %q would have the name %s, which %s has too, for only letters and digits count: change the key", where, p.Key, n, other)
					}
					names[p.Key], owners[n] = n, where
				}
			}
		}
	}
	return names, nil
}

func nameable(where, name string) error {
	if messages := utilvalidation.IsDNS1123Subdomain(name); len(messages) > 0 {
		return fault.Finalf(fault.ReasonPipe, "%s: the objects of a Pipe task are named after instance, plan, phase, step, task and key, and %q is no name that Kubernetes takes: %s; shorten or change these names in the operator package", where, name, strings.Join(messages, "; "))
	}
	return nil
}
