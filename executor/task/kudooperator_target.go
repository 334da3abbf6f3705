// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/child"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/render"
)

// find works out what the child has to be. Everything that can be wrong with the packages comes out here, before the child is touched.
func (t *kudoOperatorTask) find(ctx context.Context, env Env) (*child.Target, error) {
	name := child.InstanceName(env.Identity.Instance, &t.spec)
	if name == env.Identity.Instance {
		return nil, fault.Finalf(fault.ReasonTaskKind, "the child of the task would be the Instance %s itself; give the task another instanceName", name)
	}
	version := child.VersionName(&t.spec)
	ov, err := operatorVersion(ctx, env, version)
	if err != nil {
		return nil, err
	}
	if ov == nil {
		return nil, fault.Finalf(fault.ReasonVersion, "there is no OperatorVersion %s in namespace %s for the child Instance %s; install version %s of package %s there (kubectl kudo install does so for all packages that a package needs) and run the plan again",
			version, env.Identity.Namespace, name, t.spec.OperatorVersion, t.spec.Package)
	}
	if err := child.Acyclic(env.Version.Name, version, func(name string) (*v1beta1.OperatorVersion, error) { return operatorVersion(ctx, env, name) }); err != nil {
		return nil, err
	}
	parameters, err := t.parameters(ctx, env)
	if err != nil {
		return nil, err
	}
	target := &child.Target{Name: name, Package: t.spec.Package, Version: v1beta1.ObjectReference{Name: version}, Content: &ov.Spec, Parameters: parameters}
	if ov.Namespace != env.Identity.Namespace {
		target.Version.Namespace = ov.Namespace
	}
	return target, nil
}

// operatorVersion reads an OperatorVersion from the namespace of the Instance or, if the parent's is in another one, from there; nil if
// neither has it.
func operatorVersion(ctx context.Context, env Env, name string) (*v1beta1.OperatorVersion, error) {
	namespaces := []string{env.Identity.Namespace}
	if other := env.Version.Namespace; other != "" && other != namespaces[0] {
		namespaces = append(namespaces, other)
	}
	for _, namespace := range namespaces {
		ov, err := env.Kudo.KudoV1beta1().OperatorVersions(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			return ov, nil
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("the OperatorVersion %s/%s cannot be read: %w", namespace, name, err)
		}
	}
	return nil, nil
}

// parameters renders the parameter file. As in KUDO it sees neither the plan nor its pipes.
func (t *kudoOperatorTask) parameters(ctx context.Context, env Env) (map[string]string, error) {
	if t.spec.ParameterFile == "" {
		return nil, nil
	}
	variables := env.Variables
	variables.PlanName, variables.PhaseName, variables.StepName, variables.Pipes = "", "", "", nil
	text, err := env.text(ctx, t.spec.ParameterFile, variables)
	if err != nil {
		return nil, err
	}
	values, err := render.ParameterFile(t.spec.ParameterFile, text)
	if err != nil {
		return nil, &fault.Final{Reason: fault.ReasonRendering, Err: err}
	}
	return values, nil
}
