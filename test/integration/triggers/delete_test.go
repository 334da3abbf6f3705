// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package triggers_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"kudo.dev/kudo/test/cluster"
	"kudo.dev/kudo/test/integration/api/harness"
)

// TestDelete: the cleanup takes over from whatever runs, and starts once.
func TestDelete(t *testing.T) {
	t.Parallel()
	cleaning := runs("cleanup", "Cleanup").and(terminating)
	over := restarts("cleanup", "Cleanup").and(terminating)
	check(t, []row{
		{"DELETE", remove, always(cleaning).but(over, busy...).but(nothing(), dying...).but(vanishes(), plain)},
		{"by somebody who may not start plans by name", send(remove).as(alice), always(cleaning).but(over, busy...).but(nothing(), dying...).but(vanishes(), plain)},
	})
}

// terminating looks whether the Instance waits for its cleanup.
func terminating(s *scene, _ harness.Response) {
	if s.after.Instance.GetDeletionTimestamp() == nil || harness.Field(s.after.Instance, "metadata", "finalizers") != "[kudo.dev.instance.cleanup]" {
		s.Errorf("the Instance does not wait for its cleanup: %v", s.after.Instance.Object["metadata"])
	}
}

func TestDeleteSpecials(t *testing.T) {
	t.Parallel()
	ns := newTown(t)
	cleaning := runs("cleanup", "Cleanup").and(terminating)
	// The garbage collector, which takes the owners off, acts at the same time.
	orphaning := answer{code: http.StatusOK, plan: "cleanup", effect: func(s *scene, r harness.Response) {
		run := s.started()
		if run == nil {
			return
		}
		s.checkLock(run, "cleanup")
		s.checkAnswer(run, r)
	}}
	with := func(query string) send {
		return func(s *scene) harness.Request {
			r := remove(s)
			r.Path += "?" + query
			return r
		}
	}
	of := func(preconditions func(*scene) string) send {
		return func(s *scene) harness.Request {
			r := remove(s)
			r.Body = "{apiVersion: v1, kind: DeleteOptions, preconditions: {" + preconditions(s) + "}}"
			return r
		}
	}
	withCleanup := edited(`{"plans":{"cleanup":{"phases":[{"name":"main","steps":[{"name":"only","tasks":["quick"]}]}]}}}`)
	checkSingle(t, ns, []single{
		{"a run is under way and there is no cleanup", func(s *scene) {
			deployedAs("plain")(s)
			s.start(http.StatusCreated, ways[0].request("backup", "")(s))
			s.report(s.run, "IN_PROGRESS")
		}, remove, vanishes().and(collected)},
		{"the OperatorVersion is gone, and all that was kept of it", func(s *scene) {
			stateOf(versionGone)(s)
			env.Expect(s.T, http.StatusOK, harness.Request{Method: http.MethodDelete,
				Path: harness.Path(s.ns, "operatorversionrevisions?labelSelector=kudo.dev/instance="+s.name)})
		}, remove, vanishes().and(collected)},
		{"the OperatorVersion got a cleanup", withCleanup, remove, cleaning},
		{"the OperatorVersion got a cleanup, and the state that was read is named", withCleanup,
			of(func(s *scene) string {
				return fmt.Sprintf("resourceVersion: %q", s.before.Instance.GetResourceVersion())
			}), cleaning},
		{"the OperatorVersion got a cleanup, and another state is named", withCleanup,
			of(func(*scene) string { return `resourceVersion: "1"` }), refused(http.StatusConflict, "does not match the ResourceVersion in record")},
		{"the OperatorVersion lost its cleanup", func(s *scene) {
			edited(`{"plans":{"cleanup":{"phases":[]}}}`)(s)
			env.Expect(s.T, http.StatusOK, harness.Request{Method: http.MethodPatch, Path: harness.Path(s.ns, "operatorversions", s.version),
				Type: harness.MergePatch, Body: `{"spec":{"plans":{"cleanup":null}}}`})
		}, remove, vanishes().and(collected)},
		{"in the foreground", deployed, with("propagationPolicy=Foreground"), cleaning},
		{"with orphans", deployed, with("propagationPolicy=Orphan"), orphaning},
		{"of another uid", withCleanup, of(func(*scene) string { return "uid: other" }), refused(http.StatusConflict, "does not match the UID in record")},
	})
}

// collected waits until the garbage collector has removed what belonged to the Instance.
func collected(s *scene, _ harness.Response) {
	env.Until(s.T, time.Minute, "runs and revisions of "+s.name+" to be gone", func() error {
		if left := s.look(); len(left.Runs)+len(left.Revisions) > 0 {
			return fmt.Errorf("%d runs and %d revisions are left", len(left.Runs), len(left.Revisions))
		}
		return nil
	})
}

// reporting is what the executor says of the run that holds the Instance.
func reporting(status string) send {
	return send(func(s *scene) harness.Request {
		return harness.Request{Method: http.MethodPatch, Path: harness.Path(s.ns, "planexecutions", s.run, "status"),
			Type: harness.MergePatch, Body: fmt.Sprintf(`{"status":{"status":%q}}`, status)}
	}).as(cluster.Executor)
}

// TestCleanupEnds: an Instance goes with the end of its cleanup if that was good, and stays otherwise.
func TestCleanupEnds(t *testing.T) {
	t.Parallel()
	ns := newTown(t)
	stays := nothing().and(terminating).leaves("", "spec", "planExecution", "planName").
		leaves("FATAL_ERROR", "status", "planStatus", "cleanup", "status")
	checkSingle(t, ns, []single{
		{"COMPLETE", deleted, reporting("COMPLETE"), vanishes().and(collected)},
		{"FATAL_ERROR", deleted, reporting("FATAL_ERROR"), stays},
		{"COMPLETE at the second attempt", func(s *scene) {
			stateOf(cleanupFailed)(s)
			s.start(http.StatusCreated, ways[0].request("cleanup", "")(s))
		}, reporting("COMPLETE"), vanishes().and(collected)},
		{"COMPLETE, of a version that is gone", func(s *scene) {
			stateOf(versionGone)(s)
			s.start(http.StatusOK, remove(s))
		}, reporting("COMPLETE"), vanishes().and(collected)},
		{"again, of a version that is gone", func(s *scene) {
			stateOf(versionGone)(s)
			s.start(http.StatusOK, remove(s))
			s.report(s.run, "FATAL_ERROR")
		}, ways[2].request("cleanup", ""), created("cleanup", "Manual")},
		{"cancelled", deleted, cancel("{message: enough}"), stays.answering(http.StatusCreated)},
	})
}

// TestDeleteCollection: each Instance of a list goes its own way.
func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	ns := newTown(t)
	scenes := map[string]*scene{}
	for _, name := range []string{idle, backingUp, deleting, plain} {
		s := newScene(t, ns)
		stateOf(name)(s)
		s.before = s.look()
		s.request.User = bob
		scenes[name] = s
	}
	env.Expect(t, http.StatusOK, harness.Request{User: bob, Method: http.MethodDelete, Path: harness.Path(ns, "instances")})
	for name, want := range map[string]answer{idle: runs("cleanup", "Cleanup"), backingUp: restarts("cleanup", "Cleanup"), deleting: nothing(), plain: vanishes()} {
		s := scenes[name]
		switch s.after = s.look(); {
		case want.effect == nil:
			s.same("what is stored", s.before, s.after)
		case want.plan == "":
			want.effect(s, harness.Response{})
		default:
			s.began(want.plan, "Cleanup", name == backingUp)
		}
	}
}
