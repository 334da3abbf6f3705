// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"kudo.dev/kudo/apis/kudo"
)

const (
	// verbAnnotation is the audit annotation that names the verb by which a run was allowed.
	verbAnnotation = "kudo.dev/plan-trigger-verb"
	// missingAnnotation is the audit annotation of a run that was refused. It names the verbs, with a comma between, of which one
	// would have allowed it.
	missingAnnotation = "kudo.dev/plan-trigger-missing-verbs"
	// anyPlan is the verb that allows every plan.
	anyPlan = "trigger"
)

// verbs that allow to run the plan, in the order in which they are asked for.
func verbs(plan string) []string { return []string{anyPlan + ":" + plan, anyPlan} }

// Authorize tells whether the user of ctx may run the plan of the Instance: the verb trigger:<plan>, or else trigger, on
// instances/plans, for all Instances of the namespace or for this one. The front door knows nothing of plans, so every path to a run
// asks here. The decision is written into the audit log and counted.
func (r *REST) Authorize(ctx context.Context, instance, plan string) error {
	if r.authorizer == nil {
		return nil
	}
	if _, ok := genericapirequest.UserFrom(ctx); !ok {
		return apierrors.NewInternalError(errors.New("the request has no user"))
	}
	verb, err := r.allowingVerb(ctx, instance, plan)
	switch {
	case err != nil:
		countDecision(ctx, instance, plan, decisionError)
		return apierrors.NewInternalError(unanswered(ctx, instance, plan, err))
	case verb != "":
		audit.AddAuditAnnotation(ctx, verbAnnotation, verb)
		countDecision(ctx, instance, plan, decisionAllow)
		return nil
	}
	audit.AddAuditAnnotation(ctx, missingAnnotation, strings.Join(verbs(plan), ","))
	countDecision(ctx, instance, plan, decisionDeny)
	return apierrors.NewForbidden(kudo.Resource("instances/plans"), instance, missing(ctx, plan))
}

// allowingVerb is the verb by which the user of ctx may run the plan; it is empty if they may not. All Instances are asked for first:
// that answer is kept for a few seconds, and most users need no other.
func (r *REST) allowingVerb(ctx context.Context, instance, plan string) (string, error) {
	for _, name := range []string{"", instance} {
		for _, verb := range verbs(plan) {
			if allowed, err := r.mayUse(ctx, verb, name); allowed || err != nil {
				return verb, err
			}
		}
	}
	return "", nil
}

// Refusals tells for each of the plans of the Instance why the user of ctx may not run it, with an empty text for one that they may.
// Nobody is about to run anything, so nothing is written into the audit log and nothing counted.
func (r *REST) Refusals(ctx context.Context, instance string, plans []string) []string {
	out := make([]string, len(plans))
	if r.authorizer == nil || len(plans) == 0 {
		return out
	}
	all, allErr := r.mayUse(ctx, anyPlan, instance)
	if all {
		return out
	}
	for n, plan := range plans {
		allowed, err := r.mayUse(ctx, verbs(plan)[0], instance)
		if err == nil {
			err = allErr
		}
		switch {
		case allowed:
		case err != nil:
			out[n] = unanswered(ctx, instance, plan, err).Error()
		default:
			out[n] = missing(ctx, plan).Error()
		}
	}
	return out
}

func (r *REST) mayUse(ctx context.Context, verb, instance string) (bool, error) {
	return r.allowed(ctx, authorizer.AttributesRecord{
		Verb: verb, Namespace: genericapirequest.NamespaceValue(ctx), Resource: "instances", Subresource: "plans", Name: instance})
}

func missing(ctx context.Context, plan string) error {
	return fmt.Errorf(
		"user %q may not run plan %q in namespace %q; a Role must grant the verb %q (this plan) or %q (every plan) on instances/plans of group kudo.dev",
		userName(ctx), plan, genericapirequest.NamespaceValue(ctx), verbs(plan)[0], anyPlan)
}

func unanswered(ctx context.Context, instance, plan string, err error) error {
	return fmt.Errorf("cannot ask whether %q may run plan %q of Instance %q: %w", userName(ctx), plan, instance, err)
}

func userName(ctx context.Context) string {
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		return user.GetName()
	}
	return ""
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
