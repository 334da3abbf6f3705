// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/health"
)

// applyTask applies the objects of its templates and waits until all of them are healthy.
type applyTask struct {
	resources []string

	items []*applied
	// checked says that all kinds were looked up before anything was applied.
	checked bool
}

// applied is an object with what is known of it in the cluster.
type applied struct {
	item
	// answer is what the server returned when the object was applied; nil before that.
	answer *unstructured.Unstructured
	// seen says that the informer has had the object as it was applied, so that its absence means that it is gone.
	seen bool
	// overdue is the failure that the answer had already: it is one of an earlier run, which applied the same object.
	overdue string
	ready   bool
	detail  string
	pods    crew
	// passing is the uid of an object that makes way for this one.
	passing types.UID
}

// errNotRecorded says that an object must not be applied before it is on record that the task is about to.
var errNotRecorded = errors.New("it is not on record yet")

// toRecord reports the objects that are about to be applied. The step is carried out again as soon as that is stored.
func toRecord() Report { return Report{Outcome: engine.Waiting, Holds: true} }

func (a *applied) recorded(env Env) bool {
	return a.answer != nil || a.ready || env.Records.Lists(a.id(), env.Task)
}

func (t *applyTask) Run(ctx context.Context, env Env) (report Report) {
	defer func() { report.Objects = t.objects(env.Task) }()
	var warnings []string
	if t.items == nil {
		items, err := renderAll(ctx, env, t.resources)
		if err != nil {
			return stopped(err)
		}
		for _, i := range items {
			t.items = append(t.items, &applied{item: *i})
		}
	}
	if !t.checked {
		var plain []*item
		for _, a := range t.items {
			plain = append(plain, &a.item)
		}
		w, err := resolveAll(ctx, env, plain)
		warnings = append(warnings, w...)
		if err != nil {
			return warn(stopped(err), warnings)
		}
		t.checked = true
	}
	if slices.ContainsFunc(t.items, func(a *applied) bool { return a.resolved && !a.recorded(env) }) {
		return warn(toRecord(), warnings)
	}
	recheck := time.Duration(0)
	var waits []string
	for _, a := range t.items {
		w, again, err := a.advance(ctx, env, t.prepared)
		warnings = append(warnings, w...)
		if errors.Is(err, errNotRecorded) {
			return warn(toRecord(), warnings)
		}
		if err != nil {
			if errors.Is(err, apply.ErrResourceGone) {
				a.resolved, a.answer, t.checked = false, nil, false
			}
			a.detail = err.Error()
			return warn(stopped(err), warnings)
		}
		if again > 0 && (recheck == 0 || again < recheck) {
			recheck = again
		}
		if !a.ready {
			waits = append(waits, fmt.Sprintf("waits for %s: %s", a.ref, a.detail))
		}
	}
	if len(waits) == 0 {
		return warn(done(), warnings)
	}
	return warn(Report{Outcome: engine.Waiting, Message: strings.Join(waits, "; "), Recheck: recheck}, warnings)
}

// advance applies the object if it is not in the cluster and looks how it stands if it is.
func (a *applied) advance(ctx context.Context, env Env, siblings func() []*unstructured.Unstructured) (warnings []string, recheck time.Duration, err error) {
	if a.ready {
		return nil, 0, nil
	}
	if a.answer == nil {
		if warnings, recheck, err = a.apply(ctx, env, siblings); err != nil || a.ready || a.answer == nil {
			return warnings, recheck, err
		}
		// From here on the hub tells of changes; those that came before have to be looked for.
		env.Hub.Track(env.Waiter, a.key())
	}
	current, again, err := a.look(ctx, env)
	recheck = sooner(recheck, again)
	switch {
	case err != nil:
		return warnings, 0, err
	case current != nil:
		judged, err := a.judge(ctx, current, env)
		return warnings, sooner(again, judged), err
	case a.answer == nil: // it is gone
		w, applied, err := a.apply(ctx, env, siblings)
		return append(warnings, w...), sooner(again, applied), err
	}
	return warnings, recheck, nil // nothing new is known; an event will come
}

// apply applies the object, unless one that it replaces has to go first.
func (a *applied) apply(ctx context.Context, env Env, siblings func() []*unstructured.Unstructured) (warnings []string, recheck time.Duration, err error) {
	warning, err := a.resolve(ctx, env)
	if warning != "" {
		warnings = append(warnings, warning)
	}
	if err != nil {
		return warnings, 0, err
	}
	if !a.recorded(env) {
		return warnings, 0, errNotRecorded
	}
	if err := env.Client.MarkDependencies(ctx, a.object, siblings()); err != nil {
		return warnings, 0, fmt.Errorf("template %q: %w", a.template, err)
	}
	waits, warning, err := a.makeRoom(ctx, env)
	if warning != "" {
		warnings = append(warnings, fmt.Sprintf("template %q: %s", a.template, warning))
	}
	if err != nil || waits {
		return warnings, unlabelledRecheck, inTemplate(a.template, err)
	}
	answer, w, err := env.Client.Apply(ctx, a.object, a.ref.Resource)
	warnings = append(warnings, w...)
	if err != nil {
		if waits, again := a.replace(ctx, env, err); waits {
			return warnings, unlabelledRecheck, again
		}
		return warnings, 0, fmt.Errorf("template %q: %w", a.template, err)
	}
	a.answer, a.seen, a.overdue = answer, false, health.Overdue(answer)
	recheck, err = a.judge(ctx, answer, env)
	return warnings, recheck, err
}

// judge takes in how the object stands. recheck is when to look again though nothing happens.
func (a *applied) judge(ctx context.Context, current *unstructured.Unstructured, env Env) (recheck time.Duration, err error) {
	result := health.Check(current, env.Lookup)
	a.ready, a.detail = result.Ready, result.Message
	switch {
	case result.Ready:
		return 0, nil
	case result.Failed && a.overdue != "" && a.overdue == health.Overdue(current):
		a.detail = "its progress deadline was exceeded before this run; waits for progress"
	case result.Failed:
		return 0, fault.Finalf(fault.ReasonFailedObject, "%s failed: %s", a.ref, joined(result.Message, a.pods.lastWords(ctx, current, env)))
	}
	about, recheck, err := a.pods.explain(current, a.ref, env)
	a.detail = joined(a.detail, about)
	return recheck, err
}

// sooner is the lesser of two times to look again, of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// prepared are the objects of the task that are as they will be in the cluster.
func (t *applyTask) prepared() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, a := range t.items {
		if a.resolved {
			out = append(out, a.object)
		}
	}
	return out
}

func (t *applyTask) objects(task string) []v1beta1.ObjectExecutionStatus {
	var out []v1beta1.ObjectExecutionStatus
	for _, a := range t.items {
		if a.resolved {
			o := v1beta1.ObjectExecutionStatus{APIVersion: a.ref.APIVersion, Kind: a.ref.Kind, Namespace: a.ref.Namespace, Name: a.ref.Name, Ready: a.ready, Message: a.detail, Tasks: []string{task}}
			if a.answer != nil {
				o.UID = a.answer.GetUID()
			}
			out = append(out, o)
		}
	}
	return out
}

func warn(r Report, warnings []string) Report {
	r.Warnings = warnings
	return r
}
