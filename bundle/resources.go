// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"errors"
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
		return nil, nil, nil, fmt.Errorf("%s: name and operatorVersion are required, but they are %q and %q", OperatorFileName, o.Name, o.OperatorVersion)
	}
	if err := checkTasks(p); err != nil {
		return nil, nil, nil, err
	}
	parameters, err := wireParameters(p.Params.Parameters)
	if err != nil {
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

// wireParameters converts parameters to those of an OperatorVersion: required and immutable are always set, and
// defaults and enums are text.
func wireParameters(params []Parameter) ([]v1beta1.Parameter, error) {
	wire := make([]v1beta1.Parameter, 0, len(params))
	var faults []error
	for _, p := range params {
		required, immutable := true, false
		if p.Required != nil {
			required = *p.Required
		}
		if p.Immutable != nil {
			immutable = *p.Immutable
		}
		value, err := ValueText(p.Default, p.Type)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: parameter %q: default: %w", ParamsFileName, p.Name, err))
		}
		var enum v1beta1.EnumValues
		if p.Enum != nil {
			enum = v1beta1.EnumValues{}
			for i, entry := range *p.Enum {
				allowed, err := ValueText(entry, p.Type)
				switch {
				case err != nil:
					faults = append(faults, fmt.Errorf("%s: parameter %q: enum[%d]: %w", ParamsFileName, p.Name, i, err))
				case allowed == nil:
					faults = append(faults, fmt.Errorf("%s: parameter %q: enum[%d] has no value; write \"\" if an empty one is allowed", ParamsFileName, p.Name, i))
				default:
					enum = append(enum, *allowed)
				}
			}
		}
		wire = append(wire, v1beta1.Parameter{
			DisplayName: p.DisplayName,
			Name:        p.Name,
			Description: p.Description,
			Required:    &required,
			Default:     value,
			Trigger:     p.Trigger,
			Type:        p.Type,
			Immutable:   &immutable,
			Enum:        enum,
		})
	}
	return wire, errors.Join(faults...)
}
