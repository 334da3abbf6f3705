// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kudo.dev/kudo/test/integration/api/harness"
)

// answer is what a request is answered with, and what it does. The zero value of effect means that nothing changes.
type answer struct {
	code int
	// reason of a refusal.
	reason metav1.StatusReason
	// field that is at fault; empty if none is named.
	field string
	// words of the text. {plan}, {run} and {by} are those of the run that holds the Instance.
	words []string
	// plan that starts; empty if none does.
	plan string
	// effect is looked for after the request. A dry run has none.
	effect func(*scene, harness.Response)
}

// reasons of refusals, by their code.
var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest:          metav1.StatusReasonBadRequest,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
}

// refused is a request that changes nothing.
func refused(code int, words ...string) answer {
	return answer{code: code, reason: reasons[code], words: words}
}

// invalid is a request that is refused for one of its fields.
func invalid(field string, words ...string) answer {
	a := refused(http.StatusUnprocessableEntity, words...)
	a.field = field
	return a
}

// Refusals that many requests share.
var (
	missing   = refused(http.StatusNotFound, "not found")
	waits     = refused(http.StatusConflict, `plan "{plan}"`, `PlanExecution "{run}"`, `started by "{by}"`, "kubectl wait")
	tooLate   = refused(http.StatusConflict, "is being deleted since")
	noVersion = invalid("spec.operatorVersion.name", "Not found", "kubectl get operatorversions")
	byDelete  = invalid("spec.planExecution.planName", `"cleanup" starts when the Instance is deleted`, "delete the Instance")
)

// nothing is a request that is accepted and has no effect.
func nothing() answer { return answer{code: http.StatusOK} }

// changes is a request that changes the Instance and leaves alone the lock, the status, the runs and the revisions.
func changes() answer {
	return nothing().and(func(s *scene, _ harness.Response) {
		if s.after.Instance.GetResourceVersion() == s.before.Instance.GetResourceVersion() {
			s.Error("the Instance has not changed")
		}
		for _, field := range [][]string{{"spec", "planExecution"}, {"status"}} {
			if was, is := harness.Field(s.before.Instance, field...), harness.Field(s.after.Instance, field...); was != is {
				s.Errorf("%s was %s and is %s", strings.Join(field, "."), was, is)
			}
		}
		s.same("runs", s.before.Runs, s.after.Runs)
		s.same("revisions", s.before.Revisions, s.after.Revisions)
	})
}

// vanishes is a request after which there is no Instance.
func vanishes() answer {
	return nothing().and(func(s *scene, _ harness.Response) {
		if s.after.Instance != nil {
			s.Errorf("the Instance is still there: %v", s.after.Instance)
		}
	})
}

// and adds a check of what an accepted request has done.
func (a answer) and(check func(*scene, harness.Response)) answer {
	before := a.effect
	a.effect = func(s *scene, r harness.Response) {
		s.Helper()
		if before != nil {
			before(s, r)
		}
		check(s, r)
	}
	return a
}

// leaves adds a check of a field of the Instance after the request; an empty value is an absent field.
func (a answer) leaves(value string, path ...string) answer {
	return a.and(func(s *scene, _ harness.Response) {
		s.Helper()
		if got := harness.Field(s.after.Instance, path...); got != value {
			s.Errorf("%s is %q, want %q", strings.Join(path, "."), got, value)
		}
	})
}

// answering changes the code.
func (a answer) answering(code int) answer {
	a.code = code
	return a
}

// same tells what differs between the two.
func (s *scene) same(what string, before, after any) {
	s.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		s.Errorf("%s changed:\n%s", what, diff)
	}
}

// meet sends the request as a dry run, which changes nothing, and then in earnest.
func (s *scene) meet(want answer) {
	s.Helper()
	s.compare("dry run", want, env.Send(s.T, dryRun(s.request)))
	if want.effect != nil { // otherwise one look after both shows whether either has changed anything
		s.after = s.look()
		s.same("a dry run: what is stored", s.before, s.after)
	}
	if s.Failed() {
		return
	}
	got := env.Send(s.T, s.request)
	s.compare("request", want, got)
	s.after = s.look()
	switch {
	case s.Failed():
	case want.effect == nil:
		s.same("what is stored", s.before, s.after)
	default:
		want.effect(s, got)
	}
	if s.Failed() {
		s.Logf("%s %s %s as %s was answered with %d %s\n%s", s.request.Method, s.request.Path, s.request.Body, s.request.User, got.Code, got.Header["Warning"], got.Text())
	}
}

// dryRun is the request with that option, which is in the body if a DELETE has one.
func dryRun(r harness.Request) harness.Request {
	if r.Method == http.MethodDelete && r.Body != "" {
		r.Body = strings.Replace(r.Body, "{", "{dryRun: [All], ", 1)
		return r
	}
	separator := "?"
	if strings.Contains(r.Path, "?") {
		separator = "&"
	}
	r.Path += separator + "dryRun=All"
	return r
}

// compare looks at an answer alone.
func (s *scene) compare(what string, want answer, got harness.Response) {
	s.Helper()
	if got.Code != want.code {
		s.Errorf("%s: got %d, want %d: %s", what, got.Code, want.code, got.Text())
		return
	}
	for _, words := range want.words {
		if words = s.fill(words); !strings.Contains(got.Text(), words) {
			s.Errorf("%s: the answer lacks %q: %s", what, words, got.Text())
		}
	}
	if got.Code < 400 {
		s.comparePlan(what, want.plan, got)
		return
	}
	var status metav1.Status
	if err := json.Unmarshal([]byte(got.Body), &status); err != nil || status.Reason != want.reason {
		s.Errorf("%s: the reason is %q, want %q (%v)", what, status.Reason, want.reason, err)
	}
	var fields []string
	if status.Details != nil && status.Reason == metav1.StatusReasonInvalid {
		for _, cause := range status.Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	if want.field != "" && !slices.Equal(fields, []string{want.field}) {
		s.Errorf("%s: the fields at fault are %q, want %s", what, fields, want.field)
	}
}

// fill replaces the names of what holds the Instance.
func (s *scene) fill(words string) string {
	return strings.NewReplacer(
		"{instance}", s.name, "{run}", s.holder(), "{plan}", s.field("spec", "planExecution", "planName"),
		"{by}", s.field("spec", "planExecution", "template", "spec", "requestedBy", "username")).Replace(words)
}

// comparePlan looks for the plan that an accepted request starts in its answer and its warnings.
func (s *scene) comparePlan(what, plan string, got harness.Response) {
	s.Helper()
	warnings := strings.Join(got.Header.Values("Warning"), "\n")
	object := got.Object(s.T)
	switch {
	case plan == "":
		if strings.Contains(warnings, "plan ") {
			s.Errorf("%s: the warnings tell of a plan: %s", what, warnings)
		}
	case object.GetKind() == "PlanExecution":
		if is := harness.Field(object, "spec", "planName"); is != plan {
			s.Errorf("%s: the answer is a run of %q, want %q", what, is, plan)
		}
	case !strings.Contains(warnings, `plan \"`+plan+`\" `):
		s.Errorf("%s: the warnings do not tell of plan %q: %s", what, plan, warnings)
	case object.GetKind() == "Instance" && s.request.Method != http.MethodDelete:
		if is := harness.Field(object, "spec", "planExecution", "planName"); is != plan {
			s.Errorf("%s: the lock in the answer is of plan %q, want %q", what, is, plan)
		}
	}
}
