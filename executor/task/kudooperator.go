// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/child"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/watch"
)

// kudoOperatorTask makes or changes a child Instance and waits until the plan that this starts is complete. The server decides whether
// a plan starts: a child that is as wanted gets none, and is not waited for though its objects may not be well.
type kudoOperatorTask struct {
	spec v1beta1.TaskSpec

	target *child.Target
	ref    apply.Ref
	// settled says that the child's spec was as wanted after the last request. What others change later is their business.
	settled bool
	// answer is what the last request returned; nil before the first one.
	answer *unstructured.Unstructured
	status v1beta1.ObjectExecutionStatus
	// unwell is what is wrong with the child's objects that is not waited for.
	unwell string
}

func (t *kudoOperatorTask) Run(ctx context.Context, env Env) (report Report) {
	defer func() {
		if t.target != nil {
			report.Objects = []v1beta1.ObjectExecutionStatus{t.status}
		}
	}()
	if t.target == nil {
		target, err := t.find(ctx, env)
		if err != nil {
			return stopped(err)
		}
		t.target = target
		t.ref = apply.Ref{Resource: child.Resource, Kind: "Instance", APIVersion: v1beta1.SchemeGroupVersion.String(), Namespace: env.Identity.Namespace, Name: target.Name}
		t.status = v1beta1.ObjectExecutionStatus{APIVersion: t.ref.APIVersion, Kind: t.ref.Kind, Namespace: t.ref.Namespace, Name: t.ref.Name}
	}
	message, recheck, err := t.advance(ctx, env)
	if t.answer != nil {
		// On record, so that the parent is ready only when its child is. One that is forgotten by a crash before this is owned all the same.
		t.status.UID, t.status.Tasks = t.answer.GetUID(), []string{env.Task}
	}
	t.status.Ready, t.status.Message = message == "" && err == nil, message
	switch {
	case err != nil:
		t.status.Message = err.Error()
		return stopped(err)
	case message == "":
		t.status.Message = t.unwell
		return done()
	}
	// The tasks after it may need what the child makes, but KUDO did not hold them up either.
	return Report{Outcome: engine.Waiting, Message: fmt.Sprintf("waits for %s: %s", t.ref, message), Recheck: recheck, Holds: !t.settled}
}

// advance sends what is to be sent and says what is waited for then; "" if nothing.
func (t *kudoOperatorTask) advance(ctx context.Context, env Env) (message string, recheck time.Duration, err error) {
	for {
		if !t.settled {
			if message, err = t.change(ctx, env); err != nil || message != "" {
				return message, blindRecheck, err
			}
		}
		current, recheck, err := t.look(ctx, env)
		if err != nil {
			return "", 0, err
		}
		if current == nil {
			t.settled, t.answer = false, nil
			return "it was deleted and is made again", blindRecheck, nil
		}
		if busy := child.Busy(current); busy != "" {
			return busy, recheck, nil
		}
		runs, err := env.Kudo.KudoV1beta1().PlanExecutions(t.ref.Namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.instanceName", t.ref.Name).String()})
		if err != nil {
			return "", 0, fmt.Errorf("the runs of %s cannot be listed: %w", t.ref, err)
		}
		verdict := child.Judge(current, runs.Items)
		t.unwell = verdict.Message
		switch {
		case verdict.Failed:
			return "", 0, fault.Finalf(fault.ReasonFailedObject, "%s: %s", t.ref, verdict.Message)
		case !verdict.Ready:
			return verdict.Message, recheck, nil
		case t.settled:
			return "", 0, nil
		}
	}
}

// change brings the child's spec nearer to what is wanted, by one request. It returns what is waited for if that is not possible now.
func (t *kudoOperatorTask) change(ctx context.Context, env Env) (message string, err error) {
	live, err := env.Client.Get(ctx, t.ref)
	if err != nil {
		return "", err
	}
	env.Hub.Track(env.Waiter, t.key())
	current := &v1beta1.Instance{}
	if live != nil {
		if current, err = instanceOf(live); err != nil {
			return "", err
		}
		if current.DeletionTimestamp != nil {
			return "it is being deleted", nil
		}
		if err := t.owned(current, env.Identity); err != nil {
			return "", err
		}
	}
	if live == nil {
		err = t.send(ctx, env, t.target.Whole())
	} else {
		err = t.update(ctx, env, current)
	}
	if apierrors.IsConflict(err) {
		return "it is not changed yet, and that is tried again when it is free: " + fault.Brief(err), nil
	}
	return "", err
}

// update sends all at once if one plan brings it about, or the first of several requests.
func (t *kudoOperatorTask) update(ctx context.Context, env Env, current *v1beta1.Instance) error {
	if !t.target.Upgrades(current) {
		first, _ := t.target.First(current, nil)
		return t.send(ctx, env, first)
	}
	refused := t.send(ctx, env, t.target.Whole())
	if reason, _ := fault.Classify(refused); reason != fault.ReasonRejected && reason != fault.ReasonImmutable {
		return refused
	}
	old, err := t.definitions(ctx, env, current)
	if err != nil {
		return err
	}
	if first, several := t.target.First(current, old); several {
		return t.send(ctx, env, first)
	}
	return refused
}

func (t *kudoOperatorTask) send(ctx context.Context, env Env, c child.Change) error {
	answer, _, err := env.Client.Apply(ctx, t.target.Object(env.Identity, c.Version, c.Parameters), t.ref.Resource)
	if err != nil {
		return err
	}
	t.answer, t.settled = answer, c.Last
	return nil
}

// owned refuses an Instance that is not a child of this one: to change it would be to take it away from somebody.
func (t *kudoOperatorTask) owned(i *v1beta1.Instance, id apply.Identity) error {
	for _, o := range i.OwnerReferences {
		switch {
		case o.UID == id.InstanceUID:
			return nil
		case o.Kind == "Instance" && o.Name == id.Instance:
			return fault.Retryf("%s belongs to an Instance %s that was deleted, and has not been deleted after it yet", t.ref, o.Name)
		}
	}
	return fault.Finalf(fault.ReasonEnhancement, "%s exists and does not belong to Instance %s, so it is left alone; delete it, give the task another instanceName, or make it a child by adding to its metadata.ownerReferences: {apiVersion: %s, kind: Instance, name: %s, uid: %s}",
		t.ref, id.Instance, v1beta1.SchemeGroupVersion, id.Instance, id.InstanceUID)
}

// definitions are the parameters that the present OperatorVersion of a child defines; none if it is gone.
func (t *kudoOperatorTask) definitions(ctx context.Context, env Env, i *v1beta1.Instance) ([]v1beta1.Parameter, error) {
	ref := i.Spec.OperatorVersion
	if ref.Namespace == "" {
		ref.Namespace = i.Namespace
	}
	ov, err := env.Kudo.KudoV1beta1().OperatorVersions(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ov.Spec.Parameters, nil
}

func (t *kudoOperatorTask) key() watch.Key {
	return watch.Key{GroupVersionResource: t.ref.GroupVersionResource, Namespace: t.ref.Namespace, Name: t.ref.Name}
}

// look returns the child as it stands, from the informer if its copy is at least as new as the last answer; nil if it is gone.
func (t *kudoOperatorTask) look(ctx context.Context, env Env) (current *v1beta1.Instance, recheck time.Duration, err error) {
	v := env.Hub.Look(t.key())
	if v.Err != nil {
		recheck = blindRecheck
	} else if v.Object != nil && !env.Fresh && v.Object.GetUID() == t.answer.GetUID() && watch.AtLeast(v.Object.GetResourceVersion(), t.answer.GetResourceVersion()) {
		current, err = instanceOf(v.Object)
		return current, 0, err
	}
	live, err := env.Client.Get(ctx, t.ref)
	if live == nil || err != nil {
		return nil, recheck, err
	}
	current, err = instanceOf(live)
	return current, recheck, err
}

func instanceOf(obj *unstructured.Unstructured) (*v1beta1.Instance, error) {
	i := &v1beta1.Instance{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, i)
	return i, err
}
