// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Decisions about runs, as values of the label decision.
const (
	decisionAllow = "allow"
	decisionDeny  = "deny"
	decisionError = "error"
)

var authorizations = metrics.NewCounterVec(&metrics.CounterOpts{
	Namespace: "kudo", Name: "plan_authorization_total", StabilityLevel: metrics.ALPHA,
	Help: "Requests to run a plan, dry runs too, by the decision whether the user may: allow, deny, or error if nobody could be asked, which refuses the request.",
}, []string{"decision"})

func init() {
	legacyregistry.MustRegister(authorizations)
	for _, decision := range []string{decisionAllow, decisionDeny, decisionError} {
		authorizations.WithLabelValues(decision) // a rate needs the zero before the first
	}
}

// asked is what a request was counted for already.
type asked struct{ instance, plan string }

type askedKey struct{}

// withCounted marks a request that asked about the plan once and is about to ask again.
func withCounted(ctx context.Context, instance, plan string) context.Context {
	return context.WithValue(ctx, askedKey{}, asked{instance, plan})
}

// countDecision counts a request once.
func countDecision(ctx context.Context, instance, plan, decision string) {
	if before, ok := ctx.Value(askedKey{}).(asked); ok && decision == decisionAllow && before == (asked{instance, plan}) {
		return
	}
	authorizations.WithLabelValues(decision).Inc()
}
