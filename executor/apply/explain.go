// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/executor/fault"
)

func isJob(obj *unstructured.Unstructured) bool {
	gvk := obj.GroupVersionKind()
	return gvk.Group == "batch" && gvk.Kind == "Job"
}

// keepJobMarks leaves our annotations in the pod template of a Job that exists as they are. The template of a Job cannot
// be changed, and with KUDO a step that had an old Job failed after an upgrade although its author changed nothing.
func (c *Client) keepJobMarks(ctx context.Context, ref Ref, obj *unstructured.Unstructured) error {
	live, err := c.Get(ctx, ref)
	if err != nil || live == nil {
		return err
	}
	for _, key := range []string{AnnotationOperatorVersion, AnnotationDependenciesHash} {
		path := []string{"spec", "template", "metadata", "annotations", key}
		if value, ok, _ := unstructured.NestedString(live.Object, path...); ok {
			mergeStrings(obj.Object, map[string]string{key: value}, path[:4]...)
		} else {
			unstructured.RemoveNestedField(obj.Object, path...)
		}
	}
	return nil
}

// explain says of what object an error is and, for those that authors meet, what to do.
func explain(ref Ref, err error) error {
	reason, final := fault.Classify(err)
	if !final {
		return fmt.Errorf("%s was not applied: %w", ref, err)
	}
	hint := ""
	switch {
	case reason == fault.ReasonImmutable && ref.Kind == "Job":
		hint = "; a Job that exists cannot be changed: put a Delete task with the same template before this task, give the Job the annotation " + AnnotationRecreate + ": " + RecreateOnChange + " in its template, or give it another name"
	case reason == fault.ReasonImmutable:
		hint = "; a field that cannot be changed differs from the object in the cluster: take the change back, delete the object first, for example by a Delete task, or let it be made anew by the annotation " + AnnotationRecreate + ": " + RecreateOnChange + " in its template"
	case reason == fault.ReasonForbidden:
		hint = "; grant the executor that permission, or ask whoever runs the cluster's admission rules, and run the plan again"
	case reason == fault.ReasonNamespace:
		hint = "; the namespace is gone or going, so the plan cannot be carried out in it"
	case reason == fault.ReasonRejected:
		hint = "; fix the template or the parameters it uses, and run the plan again"
	}
	return fault.Finalf(reason, "%s was refused: %s%s", ref, fault.Brief(err), hint)
}
