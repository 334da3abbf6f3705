// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package instance

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/apis/kudo/validation"
	"kudo.dev/kudo/registry/kudo/lock"
)

// decideCreate checks a new Instance against its OperatorVersion, which it returns, and gives it to its first run.
func (r *REST) decideCreate(ctx context.Context, i *kudo.Instance) (*kudo.OperatorVersion, error) {
	if i.Namespace == "" {
		i.Namespace = genericapirequest.NamespaceValue(ctx)
	}
	if i.Name == "" && i.GenerateName != "" {
		i.Name = r.CreateStrategy.GenerateName(i.GenerateName)
	}
	i.Status = kudo.InstanceStatus{}
	i.Spec.PlanExecution = kudo.InstancePlanExecution{}
	if errs := validation.ValidateInstance(i); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kudo.Kind("Instance"), i.Name, errs)
	}
	if err := r.authorizeVersion(ctx, i); err != nil {
		return nil, err
	}
	ov, err := r.operatorVersion(ctx, i)
	if err != nil {
		return nil, err
	}
	if _, ok := ov.Spec.Plans[kudo.DeployPlanName]; !ok {
		return nil, invalid(i, field.Invalid(field.NewPath("spec", "operatorVersion"), ov.Name,
			"the OperatorVersion has no plan \"deploy\", which runs when an Instance is created; add one to its spec.plans"))
	}
	labelOperator(i, ov)
	fixImmutable(i, ov)
	holdForCleanup(i, hasCleanup(ov))
	if errs := validation.ValidateParameterValues(ov.Spec.Parameters, i.Spec.Parameters, field.NewPath("spec", "parameters")); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kudo.Kind("Instance"), i.Name, errs)
	}
	run, err := r.newRun(ctx, i, ov, kudo.DeployPlanName, kudo.TriggerCreate)
	if err != nil {
		return nil, err
	}
	return ov, lock.Take(i, run, r.clock.Now())
}

// labelOperator names the operator on the Instance, as KUDO's command line does, for selectors and tables.
func labelOperator(i *kudo.Instance, ov *kudo.OperatorVersion) {
	operator := ov.Spec.Operator.Name
	if _, set := i.Labels[OperatorLabel]; set || operator == "" || len(utilvalidation.IsValidLabelValue(operator)) > 0 {
		return
	}
	if i.Labels == nil {
		i.Labels = map[string]string{}
	}
	i.Labels[OperatorLabel] = operator
}

// fixImmutable writes the defaults of immutable parameters into the Instance, so that a later version of the operator with
// another default does not change them.
func fixImmutable(i *kudo.Instance, ov *kudo.OperatorVersion) {
	for _, p := range ov.Spec.Parameters {
		if p.Immutable == nil || !*p.Immutable || p.Default == nil {
			continue
		}
		if _, set := i.Spec.Parameters[p.Name]; set {
			continue
		}
		if i.Spec.Parameters == nil {
			i.Spec.Parameters = map[string]string{}
		}
		i.Spec.Parameters[p.Name] = *p.Default
	}
}

// operatorVersion reads the OperatorVersion of the Instance. One that does not exist makes the Instance invalid.
func (r *REST) operatorVersion(ctx context.Context, i *kudo.Instance) (*kudo.OperatorVersion, error) {
	ref := &i.Spec.OperatorVersion
	namespace := ref.Namespace
	if namespace == "" {
		namespace = genericapirequest.NamespaceValue(ctx)
	}
	obj, err := r.operatorVersions.Get(genericapirequest.WithNamespace(ctx, namespace), ref.Name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, invalid(i, field.NotFound(field.NewPath("spec", "operatorVersion", "name"),
			fmt.Sprintf("%s in namespace %s; list those that exist: kubectl get operatorversions -n %s", ref.Name, namespace, namespace)))
	}
	if err != nil {
		return nil, err
	}
	return obj.(*kudo.OperatorVersion), nil
}

// authorizeVersion keeps users from reading OperatorVersions of other namespaces by way of an Instance: its runs keep a copy.
func (r *REST) authorizeVersion(ctx context.Context, i *kudo.Instance) error {
	ref := &i.Spec.OperatorVersion
	if ref.Namespace == "" || ref.Namespace == i.Namespace {
		return nil
	}
	return r.runs.AuthorizeVersion(ctx, ref.Namespace, ref.Name)
}

func invalid(i *kudo.Instance, err *field.Error) error {
	return apierrors.NewInvalid(kudo.Kind("Instance"), i.Name, field.ErrorList{err})
}
