// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/executor/fault"
)

// AnnotationRecreate on an object of a template says when the object that exists is deleted and made anew instead of being changed.
const AnnotationRecreate = "kudo.dev/recreate"

// Values of AnnotationRecreate. Without it a Job is made anew if that of an earlier run has failed or, in a plan other than those that bring
// the Instance to its described state, has finished: a second backup is a second backup. All other objects are never made anew.
const (
	// RecreateAlways makes the object anew in every run.
	RecreateAlways = "Always"
	// RecreateOnChange makes the object anew when a field differs that cannot be changed.
	RecreateOnChange = "OnChange"
	// RecreateNever takes what is there, as KUDO does.
	RecreateNever = "Never"
)

// Recreation says when a prepared object is made anew.
type Recreation string

// RecreationOf reads the annotation of a prepared object. A value that it cannot have is a final error.
func RecreationOf(obj *unstructured.Unstructured) (Recreation, error) {
	value, ok := obj.GetAnnotations()[AnnotationRecreate]
	if !ok {
		return "", nil
	}
	switch value {
	case RecreateAlways, RecreateOnChange, RecreateNever:
	default:
		return "", fault.Finalf(fault.ReasonEnhancement, "%s %s has the annotation %s: %q; it can be %s, %s or %s", obj.GetKind(), obj.GetName(), AnnotationRecreate, value, RecreateAlways, RecreateOnChange, RecreateNever)
	}
	if value != RecreateNever && Keeps(obj) != "" {
		return "", fault.Finalf(fault.ReasonEnhancement, "%s %s has the annotation %s: %q, but is not deleted: %s; remove one of the two", obj.GetKind(), obj.GetName(), AnnotationRecreate, value, Keeps(obj))
	}
	return Recreation(value), nil
}

// Concerns tells whether the object in the cluster has to be looked at before it is applied.
func (r Recreation) Concerns(obj *unstructured.Unstructured) bool { return r != "" || isJob(obj) }

// Replaces tells whether the object in the cluster makes way for that of the run. One that this run made never does. describes says that
// the run brings the Instance to its described state.
func (r Recreation) Replaces(live *unstructured.Unstructured, id Identity, describes bool) bool {
	if live.GetAnnotations()[AnnotationRunUID] == string(id.RunUID) || !BelongsTo(live, id.InstanceUID) {
		return false
	}
	switch {
	case r == RecreateAlways:
		return true
	case r == RecreateNever || !isJob(live):
		return false
	}
	return ended(live, "Failed") || ended(live, "Complete") && !describes
}

func ended(job *unstructured.Unstructured, how string) bool {
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == how && m["status"] == "True"
	})
}

// Refused tells whether the error says that an object cannot be changed which may be made anew then.
func (r Recreation) Refused(err error) bool {
	reason, _ := fault.Classify(err)
	return reason == fault.ReasonImmutable && (r == RecreateAlways || r == RecreateOnChange)
}

// OnRefusal tells whether the object in the cluster makes way because the error says that it cannot be changed.
func (r Recreation) OnRefusal(live *unstructured.Unstructured, id Identity, err error) bool {
	return r.Refused(err) && live != nil && BelongsTo(live, id.InstanceUID)
}
