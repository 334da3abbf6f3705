// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package child

import (
	"cmp"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
)

// Resource is where Instances live.
var Resource = apply.Resource{GroupVersionResource: schema.GroupVersionResource{Group: v1beta1.SchemeGroupVersion.Group, Version: v1beta1.SchemeGroupVersion.Version, Resource: "instances"}, Namespaced: true}

// Target is what a task wants its child to be.
type Target struct {
	// Name of the child Instance, which is in the namespace of its parent.
	Name string
	// Package is the name of the child operator.
	Package string
	// Version refers to the OperatorVersion; an empty namespace is that of the child.
	Version v1beta1.ObjectReference
	// Content is what that OperatorVersion holds.
	Content *v1beta1.OperatorVersionSpec
	// Parameters are the values that the parent sets.
	Parameters map[string]string
}

// InstanceName is the name of a task's child: as the task says, or the names of the parent and of the package with a hyphen between.
func InstanceName(parent string, spec *v1beta1.TaskSpec) string {
	return cmp.Or(spec.InstanceName, parent+"-"+spec.Package)
}

// VersionName is the name under which the command line installs the OperatorVersion that a task refers to.
func VersionName(spec *v1beta1.TaskSpec) string {
	if spec.AppVersion == "" {
		return spec.Package + "-" + spec.OperatorVersion
	}
	return spec.Package + "-" + spec.AppVersion + "-" + spec.OperatorVersion
}

// Object is the child as it is applied, with the given parameters. The parent owns it without controlling it, as in KUDO. The label
// heritage is what the executor watches by.
func (t *Target) Object(id apply.Identity, version v1beta1.ObjectReference, parameters map[string]string) *unstructured.Unstructured {
	spec := map[string]any{"operatorVersion": map[string]any{"name": version.Name}}
	if version.Namespace != "" {
		spec["operatorVersion"] = map[string]any{"name": version.Name, "namespace": version.Namespace}
	}
	if len(parameters) > 0 {
		values := map[string]any{}
		for name, value := range parameters {
			values[name] = value
		}
		spec["parameters"] = values
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetAPIVersion(v1beta1.SchemeGroupVersion.String())
	obj.SetKind("Instance")
	obj.SetNamespace(id.Namespace)
	obj.SetName(t.Name)
	obj.SetLabels(map[string]string{apply.LabelOperator: t.Package, apply.LabelHeritage: apply.HeritageValue})
	obj.SetAnnotations(map[string]string{apply.AnnotationPlan: id.Plan, apply.AnnotationPhase: id.Phase, apply.AnnotationStep: id.Step, apply.AnnotationRunUID: string(id.RunUID)})
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "Instance", Name: id.Instance, UID: id.InstanceUID}})
	return obj
}

// applied are the names of the parameters that an earlier run of a parent set: server-side apply has recorded them.
func applied(i *v1beta1.Instance) map[string]bool {
	out := map[string]bool{}
	for _, m := range i.ManagedFields {
		if m.Manager != apply.FieldManager || m.Operation != metav1.ManagedFieldsOperationApply || m.Subresource != "" || m.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Spec struct {
				Parameters map[string]json.RawMessage `json:"f:parameters"`
			} `json:"f:spec"`
		}
		if json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			continue // what the server does not say is not ours
		}
		for name := range fields.Spec.Parameters {
			if len(name) > 2 && name[:2] == "f:" {
				out[name[2:]] = true
			}
		}
	}
	return out
}
