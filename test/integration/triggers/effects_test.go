// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/test/integration/api/harness"
)

// runs is a request by a change of the Instance, which was free, that starts a plan.
func runs(plan, trigger string) answer { return starts(http.StatusOK, plan, trigger, false) }

// restarts is one that ends the run which holds the Instance and starts a plan.
func restarts(plan, trigger string) answer { return starts(http.StatusOK, plan, trigger, true) }

// created is a request for a PlanExecution or an Instance, by which a plan starts.
func created(plan, trigger string) answer { return starts(http.StatusCreated, plan, trigger, false) }

func starts(code int, plan, trigger string, supersedes bool) answer {
	return answer{code: code, plan: plan, effect: func(s *scene, r harness.Response) {
		s.Helper()
		if run := s.began(plan, trigger, supersedes); run != nil {
			s.checkAnswer(run, r)
		}
	}}
}

// began looks for the run that the request has started, and for the end of that which it has superseded.
func (s *scene) began(plan, trigger string, supersedes bool) *unstructured.Unstructured {
	s.Helper()
	run := s.started()
	if run == nil {
		return nil
	}
	s.checkRun(run, plan, trigger)
	s.checkLock(run, plan)
	for name, was := range s.before.Runs {
		if is := s.after.Runs[name]; supersedes && name == s.holder() {
			s.checkSuperseded(is, run)
		} else {
			s.same("run "+name, was, is)
		}
	}
	return run
}

// started is the one run that was not there before the request.
func (s *scene) started() *unstructured.Unstructured {
	s.Helper()
	var found []*unstructured.Unstructured
	for name, run := range s.after.Runs {
		if s.before.Runs[name] == nil {
			found = append(found, run)
		}
	}
	if len(found) != 1 || s.after.Instance == nil {
		s.Errorf("%d new runs, want 1: %v", len(found), found)
		return nil
	}
	return found[0]
}

func (s *scene) checkRun(run *unstructured.Unstructured, plan, trigger string) {
	s.Helper()
	for path, want := range map[string]string{
		"spec.instanceName":         s.name,
		"spec.planName":             plan,
		"spec.trigger":              trigger,
		"spec.requestedBy.username": s.request.User,
		"spec.operatorVersion.name": harness.Field(s.after.Instance, "spec", "operatorVersion", "name"),
		"spec.instanceParameters":   harness.Field(s.after.Instance, "spec", "parameters"),
		"status.status":             "PENDING",
		"status.completionTime":     "",
		"status.phases":             "[map[name:main status:PENDING steps:[map[name:only status:PENDING]] strategy:serial]]",
	} {
		if got := harness.Field(run, strings.Split(path, ".")...); got != want {
			s.Errorf("%s of the run is %q, want %q", path, got, want)
		}
	}
	if got := run.GetLabels()["kudo.dev/instance"] + "/" + run.GetLabels()["kudo.dev/plan"]; got != s.name+"/"+plan {
		s.Errorf("labels of the run: %v", run.GetLabels())
	}
	if uid := owner(run); uid != string(s.after.Instance.GetUID()) {
		s.Errorf("the run is owned by %q, the Instance is %q", uid, s.after.Instance.GetUID())
	}
	if revision := harness.Field(run, "spec", "revisionName"); s.after.Revisions[revision] == nil {
		s.Errorf("the run uses revision %q, which is not there", revision)
	}
}

func owner(object *unstructured.Unstructured) string {
	for _, o := range object.GetOwnerReferences() {
		return string(o.UID)
	}
	return ""
}

func (s *scene) checkLock(run *unstructured.Unstructured, plan string) {
	s.Helper()
	for path, want := range map[string]string{
		"spec.planExecution.planName":           plan,
		"spec.planExecution.uid":                string(run.GetUID()),
		"spec.planExecution.status":             "PENDING",
		"spec.planExecution.template.name":      run.GetName(),
		"status.planStatus." + plan + ".uid":    string(run.GetUID()),
		"status.planStatus." + plan + ".status": "PENDING",
	} {
		if got := harness.Field(s.after.Instance, strings.Split(path, ".")...); got != want {
			s.Errorf("%s of the Instance is %q, want %q", path, got, want)
		}
	}
}

// checkAnswer looks whether the client learns which run it has started.
func (s *scene) checkAnswer(run *unstructured.Unstructured, r harness.Response) {
	s.Helper()
	switch object := r.Object(s.T); object.GetKind() {
	case "PlanExecution":
		if object.GetUID() != run.GetUID() || object.GetName() != run.GetName() {
			s.Errorf("the answer is run %s %s, want %s %s", object.GetName(), object.GetUID(), run.GetName(), run.GetUID())
		}
	case "Instance":
		if got := harness.Field(object, "spec", "planExecution", "uid"); got != string(run.GetUID()) {
			s.Errorf("the lock in the answer has uid %q, want that of the run, %q", got, run.GetUID())
		}
		if warnings := strings.Join(r.Header.Values("Warning"), "\n"); !strings.Contains(warnings, "planexecution/"+run.GetName()) {
			s.Errorf("the warnings do not name run %s: %s", run.GetName(), warnings)
		}
	default:
		s.Errorf("the answer is of kind %q", object.GetKind())
	}
}

// checkSuperseded looks whether a run has ended because another one took over.
func (s *scene) checkSuperseded(run, by *unstructured.Unstructured) {
	s.Helper()
	s.checkEnded(run, "Superseded", by.GetName(), s.request.User)
	plan := harness.Field(run, "spec", "planName")
	if plan == harness.Field(by, "spec", "planName") {
		return
	}
	if got := harness.Field(s.after.Instance, "status", "planStatus", plan, "status"); got != "FATAL_ERROR" {
		s.Errorf("plan %s of the Instance is %q", plan, got)
	}
}

// checkEnded looks whether a run was ended by the server, for the reason and with the words in its message.
func (s *scene) checkEnded(run *unstructured.Unstructured, reason string, words ...string) {
	s.Helper()
	if run == nil {
		s.Error("the run is gone")
		return
	}
	if got := harness.Field(run, "status", "status"); got != "FATAL_ERROR" || harness.Field(run, "status", "completionTime") == "" {
		s.Errorf("run %s is %q, want an end with FATAL_ERROR", run.GetName(), got)
	}
	if got := condition(run, "Failed"); got["status"] != "True" || got["reason"] != reason {
		s.Errorf("condition Failed of run %s is %v, want the reason %s", run.GetName(), got, reason)
	}
	for _, word := range words {
		if got := harness.Field(run, "status", "message"); !strings.Contains(got, word) {
			s.Errorf("the message of run %s lacks %q: %s", run.GetName(), word, got)
		}
	}
}

func condition(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}
