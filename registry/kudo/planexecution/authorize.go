// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"kudo.dev/kudo/apis/kudo"
)

// verbAnnotation is the audit annotation that names the verb by which a run was allowed.
const verbAnnotation = "kudo.dev/plan-trigger-verb"

// Authorize tells whether the user of ctx may run the plan of the Instance: the verb trigger:<plan>, or else trigger, on
// instances/plans, for all Instances of the namespace or for this one. The front door knows nothing of plans, so every path to a run asks here.
func (r *REST) Authorize(ctx context.Context, instance, plan string) error {
	if r.authorizer == nil {
		return nil
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errors.New("the request has no user"))
	}
	verbs := []string{"trigger:" + plan, "trigger"}
	// For all Instances first: these answers are kept for a few seconds, and most users need no other.
	for _, name := range []string{"", instance} {
		for _, verb := range verbs {
			allowed, err := r.allowed(ctx, authorizer.AttributesRecord{
				Verb: verb, Namespace: genericapirequest.NamespaceValue(ctx), Resource: "instances", Subresource: "plans", Name: name})
			if err != nil {
				return apierrors.NewInternalError(fmt.Errorf("cannot ask whether %q may run plan %q of Instance %q: %w", user.GetName(), plan, instance, err))
			}
			if allowed {
				audit.AddAuditAnnotation(ctx, verbAnnotation, verb)
				return nil
			}
		}
	}
	return apierrors.NewForbidden(kudo.Resource("instances/plans"), instance, fmt.Errorf(
		"user %q may not run plan %q in namespace %q; a Role must grant the verb %q (this plan) or %q (every plan) on instances/plans of group kudo.dev",
		user.GetName(), plan, genericapirequest.NamespaceValue(ctx), verbs[0], verbs[1]))
}

// AuthorizeVersion tells whether the user of ctx may read an OperatorVersion.
func (r *REST) AuthorizeVersion(ctx context.Context, namespace, name string) error {
	if r.authorizer == nil {
		return nil
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errors.New("the request has no user"))
	}
	allowed, err := r.allowed(ctx, authorizer.AttributesRecord{Verb: "get", Namespace: namespace, Resource: "operatorversions", Name: name})
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("cannot ask whether %q may read OperatorVersion %s/%s: %w", user.GetName(), namespace, name, err))
	}
	if allowed {
		return nil
	}
	return apierrors.NewForbidden(kudo.Resource("operatorversions"), name, fmt.Errorf(
		"user %q may not refer to an OperatorVersion of namespace %q; a Role there must grant the verb \"get\" on operatorversions of group kudo.dev, or install the operator in the namespace of the Instance",
		user.GetName(), namespace))
}

// allowed asks for the user of ctx about a resource of the group.
func (r *REST) allowed(ctx context.Context, attributes authorizer.AttributesRecord) (bool, error) {
	attributes.User, _ = genericapirequest.UserFrom(ctx)
	attributes.APIGroup, attributes.APIVersion, attributes.ResourceRequest = kudo.GroupName, "v1beta1", true
	decision, _, err := r.authorizer.Authorize(ctx, attributes)
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	return false, err
}
