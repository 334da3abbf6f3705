// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package planexecution

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-base/metrics/testutil"
)

// rights answers what the verbs grant, and that nobody can be asked about those in broken.
type rights struct {
	granted, broken []string
	asked           []string
}

func (r *rights) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	r.asked = append(r.asked, strings.Join([]string{a.GetUser().GetName(), a.GetVerb(), a.GetAPIGroup(), a.GetResource() + "/" + a.GetSubresource(), a.GetNamespace(), a.GetName()}, " "))
	for _, verb := range r.broken {
		if verb == a.GetVerb() {
			return authorizer.DecisionNoOpinion, "", errors.New("no answer")
		}
	}
	for _, verb := range r.granted {
		if verb == a.GetVerb() {
			return authorizer.DecisionAllow, "", nil
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func request() context.Context {
	ctx := audit.WithAuditContext(genericapirequest.WithNamespace(context.Background(), "shop"))
	ac := audit.AuditContextFrom(ctx)
	if err := ac.Init(audit.RequestAuditConfig{Level: auditinternal.LevelMetadata}, nil); err != nil {
		panic(err)
	}
	return genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "alice"})
}

func counted(t *testing.T) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, decision := range []string{decisionAllow, decisionDeny, decisionError} {
		value, err := testutil.GetCounterMetricValue(authorizations.WithLabelValues(decision))
		if err != nil {
			t.Fatal(err)
		}
		out[decision] = value
	}
	return out
}

// TestAuthorize: all Instances are asked for before the one, the plan's own verb before that for every plan, and the decision is annotated and counted.
func TestAuthorize(t *testing.T) {
	for name, tc := range map[string]struct {
		rights      rights
		asked       int
		annotations map[string]string
		decision    string
	}{
		"this plan":  {rights{granted: []string{"trigger:backup"}}, 1, map[string]string{verbAnnotation: "trigger:backup"}, decisionAllow},
		"every plan": {rights{granted: []string{"trigger"}}, 2, map[string]string{verbAnnotation: "trigger"}, decisionAllow},
		"another":    {rights{granted: []string{"trigger:restore", "create", "get"}}, 4, map[string]string{missingAnnotation: "trigger:backup,trigger"}, decisionDeny},
		"no answer":  {rights{broken: []string{"trigger"}}, 2, nil, decisionError},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, before := request(), counted(t)
			err := (&REST{authorizer: &tc.rights}).Authorize(ctx, "db", "backup")
			if (err == nil) != (tc.decision == decisionAllow) || apierrors.IsForbidden(err) != (tc.decision == decisionDeny) || apierrors.IsInternalError(err) != (tc.decision == decisionError) {
				t.Errorf("got %v", err)
			}
			asked := []string{"alice trigger:backup kudo.dev instances/plans shop ", "alice trigger kudo.dev instances/plans shop ",
				"alice trigger:backup kudo.dev instances/plans shop db", "alice trigger kudo.dev instances/plans shop db"}
			if diff := cmp.Diff(asked[:tc.asked], tc.rights.asked); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.annotations, audit.AuditContextFrom(ctx).GetEventAnnotations()); diff != "" {
				t.Error(diff)
			}
			before[tc.decision]++
			if diff := cmp.Diff(before, counted(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCountedOnce: a request that asks a second time counts once, unless admission gave it another plan.
func TestCountedOnce(t *testing.T) {
	r := &REST{authorizer: &rights{granted: []string{"trigger"}}}
	before := counted(t)
	for _, plan := range []string{"backup", "restore"} {
		if err := r.Authorize(withCounted(request(), "db", "backup"), "db", plan); err != nil {
			t.Fatal(err)
		}
	}
	before[decisionAllow]++
	if diff := cmp.Diff(before, counted(t)); diff != "" {
		t.Error(diff)
	}
}

// TestRefusals: trigger is asked for once, nothing is annotated and nothing counted.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		rights rights
		asked  int
		// want has for each of the plans what its refusal contains.
		want []string
	}{
		"nothing":    {rights{}, 3, []string{"trigger:backup", "trigger:restore"}},
		"one plan":   {rights{granted: []string{"trigger:backup"}}, 3, []string{"", "trigger:restore"}},
		"every plan": {rights{granted: []string{"trigger"}}, 1, []string{"", ""}},
		"no answer":  {rights{granted: []string{"trigger:backup"}, broken: []string{"trigger"}}, 3, []string{"", "no answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, before := request(), counted(t)
			got := (&REST{authorizer: &tc.rights}).Refusals(ctx, "db", []string{"backup", "restore"})
			for n, want := range tc.want {
				if (got[n] == "") != (want == "") || !strings.Contains(got[n], want) {
					t.Errorf("plan %d: %q, want %q", n, got[n], want)
				}
			}
			if len(tc.rights.asked) != tc.asked {
				t.Errorf("asked %q", tc.rights.asked)
			}
			if got := audit.AuditContextFrom(ctx).GetEventAnnotations(); len(got) > 0 {
				t.Errorf("annotations %v", got)
			}
			if diff := cmp.Diff(before, counted(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
