// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kudo.dev/kudo/executor/apply"
)

// makeRoom looks at what is in the cluster under the name of the object, if this Instance is not known to have applied it or it may have
// to make way. It tells whether the object has to wait until that is gone.
func (a *applied) makeRoom(ctx context.Context, env Env) (waits bool, warning string, err error) {
	again, err := apply.RecreationOf(a.object)
	known := env.Records.UID(a.id()) != ""
	if err != nil || known && a.passing == "" && !again.Concerns(a.object) {
		return false, "", err
	}
	live, err := env.Client.Get(ctx, a.ref)
	switch {
	case err != nil:
		return false, "", fmt.Errorf("%s cannot be read: %w", a.ref, err)
	case live == nil:
		a.passing = ""
		return false, "", nil
	case a.passing != "" && live.GetUID() == a.passing && live.GetDeletionTimestamp() != nil:
		return true, "", nil
	case again.Replaces(live, env.Identity, env.Describes):
		return a.pass(ctx, env, live)
	case known:
		return false, "", nil
	}
	warning, err = env.Client.Adopt(ctx, a.ref, live, env.Identity)
	return false, warning, err
}

// replace deletes the object in the cluster if its template says so and the error that it cannot be changed. waits says that the object is
// to be applied once more, because the one in the way goes or has just gone, or that it is not known whether it may go.
func (a *applied) replace(ctx context.Context, env Env, refused error) (waits bool, err error) {
	again, err := apply.RecreationOf(a.object)
	if err != nil || !again.Refused(refused) {
		return false, nil //nolint:nilerr // the error that we have is the one to show
	}
	live, err := env.Client.Get(ctx, a.ref)
	switch {
	case err != nil:
		return true, inTemplate(a.template, fmt.Errorf("%s cannot be read, which has to be made anew: %w", a.ref, err))
	case live != nil && !again.OnRefusal(live, env.Identity, refused):
		return false, nil
	case live != nil:
		waits, _, err = a.pass(ctx, env, live)
		if waits || err != nil {
			return true, inTemplate(a.template, err)
		}
	}
	a.detail = "the one that could not be changed has gone meanwhile; it is made anew"
	return true, nil
}

// pass deletes an object that makes way and tells whether it is still there.
func (a *applied) pass(ctx context.Context, env Env, live *unstructured.Unstructured) (waits bool, warning string, err error) {
	env.Hub.Track(env.Waiter, a.key())
	gone, err := env.Client.DeleteExact(ctx, a.ref, live.GetUID())
	if err != nil || gone {
		return false, "", err
	}
	a.passing, a.detail = live.GetUID(), "waits until the one of an earlier run is gone"
	return true, "", nil
}

func inTemplate(template string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("template %q: %w", template, err)
}
