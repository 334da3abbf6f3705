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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
)

// unlabelledRecheck is how often an object is read that nobody applied with KUDO's label, which the informers do not see.
const unlabelledRecheck = 3 * time.Second

// deleteTask deletes the objects of its templates and waits until they are gone.
type deleteTask struct {
	resources []string

	rendered bool
	items    []*deleted
}

type deleted struct {
	item
	// uid is of the object that was asked to go; empty before that.
	uid    types.UID
	gone   bool
	detail string
	// foreign says that the object is there and another Instance's, so it is left alone.
	foreign bool
}

func (t *deleteTask) Run(ctx context.Context, env Env) (report Report) {
	defer func() { report.Objects = t.objects() }()
	var warnings []string
	if !t.rendered {
		items, err := renderAll(ctx, env, t.resources)
		if err != nil {
			return stopped(err)
		}
		for _, i := range items {
			t.items = append(t.items, &deleted{item: *i})
		}
		t.rendered = true
	}
	recheck := time.Duration(0)
	var waits []string
	for _, d := range t.items {
		if d.gone {
			continue
		}
		warning, err := d.resolve(ctx, env)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		if reason, _ := fault.Classify(err); reason == fault.ReasonUnknownKind {
			d.gone = true // of a kind that the cluster does not have there are no objects
			continue
		}
		again := time.Duration(0)
		if task := env.Ahead[d.id()]; err == nil && task != "" && d.uid == "" {
			return warn(Report{Outcome: engine.Waiting, Message: fmt.Sprintf("waits with the deletion of %s until task %s, which applies it, is done", d.ref, task), Holds: true}, warnings)
		}
		if err == nil {
			again, err = d.advance(ctx, env)
		}
		if err != nil {
			if errors.Is(err, apply.ErrResourceGone) {
				d.resolved, d.uid = false, ""
			}
			d.detail = ": " + err.Error()
			return warn(stopped(err), warnings)
		}
		if d.foreign {
			warnings = append(warnings, fmt.Sprintf("template %q: %s belongs to another Instance and is not deleted; give it a name that has the name and the namespace of the Instance in it", d.template, d.ref))
		}
		if !d.gone {
			waits = append(waits, fmt.Sprintf("waits until %s is gone%s", d.ref, d.detail))
			if again > 0 && (recheck == 0 || again < recheck) {
				recheck = again
			}
		}
	}
	if len(waits) == 0 {
		return warn(done(), warnings)
	}
	return warn(Report{Outcome: engine.Waiting, Message: strings.Join(waits, "; "), Recheck: recheck, Holds: true}, warnings)
}

// advance asks for the deletion once and then looks whether the object is gone.
func (d *deleted) advance(ctx context.Context, env Env) (recheck time.Duration, err error) {
	if d.uid == "" {
		live, err := env.Client.Get(ctx, d.ref)
		if err != nil {
			return 0, err
		}
		// KUDO deleted by name, so that an Instance could take away what another one lives on.
		if live == nil || apply.OfAnother(live, env.Identity.InstanceUID) {
			d.gone, d.foreign = true, live != nil
			return 0, nil
		}
		if d.gone, err = env.Client.DeleteExact(ctx, d.ref, live.GetUID()); err != nil || d.gone {
			return 0, err
		}
		env.Hub.Track(env.Waiter, d.key()) // before reading, so that no event falls between
	} else if v := env.Hub.Look(d.key()); !env.Fresh && v.Err == nil && v.Object != nil && v.Object.GetUID() == d.uid {
		d.describe(v.Object)
		return 0, nil // the informer still has it; its removal will be an event
	}
	live, err := env.Client.Get(ctx, d.ref)
	if err != nil {
		return 0, err
	}
	// One that is not on its way out was made after ours had gone, for example by a controller.
	if live == nil || live.GetDeletionTimestamp() == nil || d.uid != "" && live.GetUID() != d.uid {
		d.gone, d.detail = true, ""
		return 0, nil
	}
	d.uid = live.GetUID()
	d.describe(live)
	if live.GetLabels()[apply.LabelHeritage] != apply.HeritageValue {
		return unlabelledRecheck, nil
	}
	if v := env.Hub.Look(d.key()); v.Err != nil {
		return blindRecheck, nil //nolint:nilerr // what cannot be watched is read by and by
	}
	return 0, nil
}

func (d *deleted) describe(obj *unstructured.Unstructured) {
	d.detail = ""
	// The finalizer of a foreground deletion is our own doing and says nothing.
	f := slices.DeleteFunc(obj.GetFinalizers(), func(name string) bool { return name == metav1.FinalizerDeleteDependents })
	if len(f) > 0 {
		d.detail = fmt.Sprintf(" (finalizers %s)", strings.Join(f, ", "))
	}
}

func (t *deleteTask) objects() []v1beta1.ObjectExecutionStatus {
	var out []v1beta1.ObjectExecutionStatus
	for _, d := range t.items {
		if d.ref.Name == "" {
			continue // never resolved
		}
		message := "deleted"
		if !d.gone {
			message = "being deleted" + d.detail
		}
		out = append(out, v1beta1.ObjectExecutionStatus{APIVersion: d.ref.APIVersion, Kind: d.ref.Kind, Namespace: d.ref.Namespace, Name: d.ref.Name, Ready: d.gone, Deleted: d.gone, Message: message})
	}
	return out
}
