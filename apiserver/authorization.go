// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// wholeFirst asks whether the user may do to all objects of a resource in the namespace what the request does to one, and about the
// one only if not. The answers are kept for a few seconds, and the answer for all is kept once, where one for each object would
// mean a call to kube-apiserver for nearly every request. Whoever may do something to all objects may do it to each: a review
// without a name means all. kube-apiserver itself has asked about the one object before it passed the request on.
type wholeFirst struct{ authorizer.Authorizer }

// Authorize decides.
func (a wholeFirst) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	if namesOne(attributes) {
		if decision, reason, err := a.Authorizer.Authorize(ctx, allObjects{attributes}); decision == authorizer.DecisionAllow {
			return decision, reason, err
		}
	}
	return a.Authorizer.Authorize(ctx, attributes)
}

// ConditionsAwareAuthorize decides without conditions.
func (a wholeFirst) ConditionsAwareAuthorize(ctx context.Context, attributes authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(a.Authorize(ctx, attributes))
}

// namesOne tells whether the request is about one object, and says so by its name alone.
func namesOne(attributes authorizer.Attributes) bool {
	if !attributes.IsResourceRequest() || attributes.GetName() == "" {
		return false
	}
	selected, err := attributes.GetFieldSelector()
	return err == nil && len(selected) == 0
}

// allObjects is a request without the name of its object.
type allObjects struct{ authorizer.Attributes }

// GetName is empty.
func (allObjects) GetName() string { return "" }
