// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestWholeFirst(t *testing.T) {
	outage := errors.New("kube-apiserver is away")
	for _, tc := range []struct {
		name     string
		request  authorizer.AttributesRecord
		allowed  []string // names; the empty one stands for all
		failure  error
		asked    []string
		decision authorizer.Decision
	}{
		{"who may do it to all is not asked about for the one", authorizer.AttributesRecord{Name: "db"}, []string{""}, nil, []string{""}, authorizer.DecisionAllow},
		{"who may do it to one", authorizer.AttributesRecord{Name: "db"}, []string{"db"}, nil, []string{"", "db"}, authorizer.DecisionAllow},
		{"who may do it to another", authorizer.AttributesRecord{Name: "db"}, []string{"other"}, nil, []string{"", "db"}, authorizer.DecisionNoOpinion},
		{"a request for all", authorizer.AttributesRecord{}, []string{"db"}, nil, []string{""}, authorizer.DecisionNoOpinion},
		{"a selector names the object too", authorizer.AttributesRecord{Name: "db",
			FieldSelectorRequirements: fields.Requirements{{Field: "metadata.name", Operator: "=", Value: "db"}}}, []string{""}, nil, []string{"db"}, authorizer.DecisionNoOpinion},
		{"an outage", authorizer.AttributesRecord{Name: "db"}, nil, outage, []string{"", "db"}, authorizer.DecisionNoOpinion},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked []string
			a := wholeFirst{authorizer.AuthorizerFunc(func(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
				asked = append(asked, attributes.GetName())
				if attributes.GetVerb() != "create" || attributes.GetSubresource() != "plans" || attributes.GetNamespace() != "ns" {
					t.Errorf("asked about another request: %+v", attributes)
				}
				if tc.failure == nil && slices.Contains(tc.allowed, attributes.GetName()) {
					return authorizer.DecisionAllow, "", nil
				}
				return authorizer.DecisionNoOpinion, "", tc.failure
			})}
			tc.request.Verb, tc.request.Resource, tc.request.Subresource, tc.request.Namespace, tc.request.ResourceRequest = "create", "instances", "plans", "ns", true
			decision, _, err := a.Authorize(t.Context(), tc.request)
			if decision != tc.decision || !errors.Is(err, tc.failure) {
				t.Errorf("decided %v, %v; want %v, %v", decision, err, tc.decision, tc.failure)
			}
			if !slices.Equal(asked, tc.asked) {
				t.Errorf("asked about %q, want %q", asked, tc.asked)
			}
			if aware := a.ConditionsAwareAuthorize(t.Context(), tc.request); aware.IsAllow() != (tc.decision == authorizer.DecisionAllow) {
				t.Error("the decision that may have conditions is another one")
			}
		})
	}
}
