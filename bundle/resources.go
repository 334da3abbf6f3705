// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

// OperatorLabel is the label of Instances that names their operator.
const OperatorLabel = "kudo.dev/operator"

// Resources makes the API objects of a package, for the namespace they are to be created in. The Instance has the
// default name, <operator>-instance, and no parameters; callers change both.
//
// It fails if a task is of an unknown kind or lacks what its kind needs. All faults are named, with file and task.
// Plans and parameters are not checked.
func Resources(p *Package, namespace string) (*v1beta1.Operator, *v1beta1.OperatorVersion, *v1beta1.Instance, error) {
	o := &p.Operator
	if o.Name == "" || o.OperatorVersion == "" {
		return nil, nil, nil, &Fault{File: OperatorFileName, Message: fmt.Sprintf("name and operatorVersion are required, but they are %q and %q", o.Name, o.OperatorVersion)}
	}
	if err := join(p.TaskFaults()); err != nil {
		return nil, nil, nil, err
	}
	parameters, faults := p.WireParameters()
	if err := join(faults); err != nil {
		return nil, nil, nil, err
	}
	operator := &v1beta1.Operator{
		TypeMeta:   typeMeta("Operator"),
		ObjectMeta: metav1.ObjectMeta{Name: o.Name, Namespace: namespace},
		Spec: v1beta1.OperatorSpec{
			Description:       o.Description,
			KudoVersion:       o.KUDOVersion,
			KubernetesVersion: o.KubernetesVersion,
			Maintainers:       slices.Clone(o.Maintainers),
			URL:               o.URL,
			NamespaceManifest: o.NamespaceManifest,
		},
	}
	version := &v1beta1.OperatorVersion{
		TypeMeta:   typeMeta("OperatorVersion"),
		ObjectMeta: metav1.ObjectMeta{Name: OperatorVersionName(o.Name, o.AppVersion, o.OperatorVersion), Namespace: namespace},
		Spec: v1beta1.OperatorVersionSpec{
			Operator:   v1beta1.ObjectReference{Kind: "Operator", Name: o.Name},
			Version:    o.OperatorVersion,
			AppVersion: o.AppVersion,
			Templates:  maps.Clone(p.Templates),
			Tasks:      slices.Clone(o.Tasks),
			Parameters: parameters,
			Plans:      maps.Clone(o.Plans),
		},
	}
	instance := &v1beta1.Instance{
		TypeMeta: typeMeta("Instance"),
		ObjectMeta: metav1.ObjectMeta{
			Name:      o.Name + "-instance",
			Namespace: namespace,
			Labels:    map[string]string{OperatorLabel: o.Name},
		},
		Spec: v1beta1.InstanceSpec{OperatorVersion: v1beta1.ObjectReference{Name: version.Name}},
	}
	return operator, version, instance, nil
}

// OperatorVersionName is the name of the OperatorVersion that is made of a package: the operator, the version of the
// application if there is one, and the version of the operator, with hyphens between them.
func OperatorVersionName(operator, appVersion, operatorVersion string) string {
	if appVersion == "" {
		return operator + "-" + operatorVersion
	}
	return operator + "-" + appVersion + "-" + operatorVersion
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: kind}
}

// WireParameters converts the parameters to those of an OperatorVersion: required and immutable are always set, and
// defaults and enums are text. Parameters with a fault lack what could not be converted.
func (p *Package) WireParameters() ([]v1beta1.Parameter, []*Fault) {
	wire := make([]v1beta1.Parameter, 0, len(p.Params.Parameters))
	var faults []*Fault
	for i, param := range p.Params.Parameters {
		required, immutable := true, false
		if param.Required != nil {
			required = *param.Required
		}
		if param.Immutable != nil {
			immutable = *param.Immutable
		}
		value, err := ValueText(param.Default, param.Type)
		if err != nil {
			faults = append(faults, p.fault(ParamsFileName, fmt.Sprintf("parameter %q: default: %v", param.Name, err), "parameters", i, "default"))
		}
		var enum v1beta1.EnumValues
		if param.Enum != nil {
			enum = v1beta1.EnumValues{}
			for n, entry := range *param.Enum {
				allowed, err := ValueText(entry, param.Type)
				switch {
				case err != nil:
					faults = append(faults, p.fault(ParamsFileName, fmt.Sprintf("parameter %q: enum[%d]: %v", param.Name, n, err), "parameters", i, "enum", n))
				case allowed == nil:
					faults = append(faults, p.fault(ParamsFileName, fmt.Sprintf("parameter %q: enum[%d] has no value; write \"\" if an empty one is allowed", param.Name, n), "parameters", i, "enum", n))
				default:
					enum = append(enum, *allowed)
				}
			}
		}
		wire = append(wire, v1beta1.Parameter{
			DisplayName: param.DisplayName,
			Name:        param.Name,
			Description: param.Description,
			Required:    &required,
			Default:     value,
			Trigger:     param.Trigger,
			Type:        param.Type,
			Immutable:   &immutable,
			Enum:        enum,
		})
	}
	return wire, faults
}
