// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package task

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/engine"
	"kudo.dev/kudo/executor/fault"
	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/pipe"
	"kudo.dev/kudo/executor/podfiles"
	"kudo.dev/kudo/executor/watch"
	"kudo.dev/kudo/render"
)

// pipeTask runs a pod that writes files, stores these as Secrets and ConfigMaps, and deletes the pod. The pod and what is stored bear
// the uid of the run, so that an executor that comes later knows how far the one before it was, and never takes a pod of another run
// for one of this.
type pipeTask struct {
	spec v1beta1.TaskSpec

	// pod is the pod as it is created, nil until it is known; podRef and artifacts name what the task makes.
	pod       *unstructured.Unstructured
	podRef    apply.Ref
	artifacts []apply.Ref
	// stored says that all files are stored.
	stored bool
	// uid is of the pod that was seen last.
	uid    types.UID
	detail string
	gone   bool
	crew   crew
}

func (t *pipeTask) Run(ctx context.Context, env Env) (report Report) {
	defer func() { report.Objects = t.objects() }()
	if t.pod == nil {
		if err := t.prepare(ctx, env); err != nil {
			return stopped(err)
		}
		var err error
		if t.stored, err = t.alreadyStored(ctx, env); err != nil {
			t.pod = nil
			return stopped(err)
		}
	}
	if !t.stored {
		message, recheck, err := t.advance(ctx, env)
		if err != nil {
			t.detail = err.Error()
			return stopped(t.giveUp(ctx, env, err))
		}
		if t.detail = message; message != "" {
			return Report{Outcome: engine.Waiting, Message: fmt.Sprintf("waits for %s: %s", t.podRef, message), Recheck: recheck}
		}
		t.stored = true
	}
	if err := t.remove(ctx, env); err != nil {
		return stopped(err)
	}
	return done()
}

// prepare renders and checks all there is to check, before anything is made.
func (t *pipeTask) prepare(ctx context.Context, env Env) error {
	id := env.Identity
	text, err := env.text(ctx, t.spec.Pod, env.Variables)
	if err != nil {
		return err
	}
	author, err := render.PipePod(t.spec.Pod, text)
	if err != nil {
		return &fault.Final{Reason: fault.ReasonPipePod, Err: err}
	}
	pod, err := pipe.Pod(t.spec.Pod, author, pipe.PodName(id.Instance, id.Plan, id.Phase, id.Step, env.Task), env.PipeImage, t.spec.Pipe)
	if err != nil {
		return err
	}
	if err := apply.Prepare(pod, true, id); err != nil {
		return fmt.Errorf("template %q: %w", t.spec.Pod, err)
	}
	ref := apply.RefOf(pod, pipe.Pods)
	if err := checkLimit(ref, pod); err != nil {
		return fmt.Errorf("template %q: %w", t.spec.Pod, err)
	}
	t.artifacts = nil
	for _, p := range t.spec.Pipe {
		name := pipe.ArtifactName(id.Instance, id.Plan, id.Phase, id.Step, env.Task, p.Key)
		t.artifacts = append(t.artifacts, apply.Ref{Resource: pipe.Resource(p.Kind), Kind: p.Kind, APIVersion: "v1", Namespace: id.Namespace, Name: name})
	}
	t.pod, t.podRef = pod, ref
	return nil
}

// advance brings the pod nearer to its end and says what is waited for; "" means that all files are stored.
func (t *pipeTask) advance(ctx context.Context, env Env) (message string, recheck time.Duration, err error) {
	live, recheck, err := t.look(ctx, env)
	if err != nil {
		return "", 0, err
	}
	if live == nil {
		if err := env.Client.Create(ctx, t.podRef, t.pod); err != nil {
			return "", 0, fmt.Errorf("%s was not created: %w", t.podRef, err)
		}
		return "it was created", recheck, nil
	}
	t.uid = live.GetUID()
	switch {
	case live.GetAnnotations()[pipe.Annotation] != "true" || !controlled(live, env.Identity.InstanceUID):
		return "", 0, fault.Finalf(fault.ReasonPipe, "%s exists and is no pipe pod of Instance %s, so it is left alone; delete it and run the plan again", t.podRef, env.Identity.Instance)
	case live.GetDeletionTimestamp() != nil:
		return "one of an earlier try is being deleted", max(recheck, blindRecheck), nil
	case live.GetAnnotations()[apply.AnnotationRunUID] != string(env.Identity.RunUID):
		_, err := env.Client.Delete(ctx, t.podRef)
		return "one of an earlier run is being deleted", blindRecheck, err
	}
	if pipe.Secret(t.spec.Pipe) {
		live = pipe.Silent(live)
	}
	general := health.Check(live, env.Lookup)
	progress, err := pipe.ProgressOf(live, general.Failed, general.Message)
	switch {
	case err != nil:
		return "", 0, err
	case progress.Failed != "":
		return "", 0, t.failed(ctx, env, progress)
	case !progress.Written:
		// What is wrong with its containers the progress says already; here only counts how long that may last.
		_, again, err := t.crew.explain(live, t.podRef, env)
		return progress.Message, sooner(recheck, again), err
	}
	return "", 0, t.store(ctx, env)
}

func controlled(obj *unstructured.Unstructured, owner types.UID) bool {
	for _, o := range obj.GetOwnerReferences() {
		if o.UID == owner {
			return true
		}
	}
	return false
}

// look returns the pod, nil if there is none.
func (t *pipeTask) look(ctx context.Context, env Env) (live *unstructured.Unstructured, recheck time.Duration, err error) {
	key := watch.Key{GroupVersionResource: t.podRef.GroupVersionResource, Namespace: t.podRef.Namespace, Name: t.podRef.Name}
	env.Hub.Track(env.Waiter, key)
	v := env.Hub.Look(key)
	if v.Err != nil {
		recheck = blindRecheck
	} else if v.Object != nil && !env.Fresh && t.uid != "" && v.Object.GetUID() == t.uid {
		return v.Object, 0, nil
	}
	live, err = env.Client.Get(ctx, t.podRef)
	return live, recheck, err
}

// failed is the error for a container that does not get there, with what it said last if that cannot be secret.
func (t *pipeTask) failed(ctx context.Context, env Env, p pipe.Progress) error {
	said := "its log is not shown, because the task stores a Secret; to see it, run the init container by hand"
	if p.Failed == pipe.Waiter || !pipe.Secret(t.spec.Pipe) {
		said = t.lastLines(ctx, env, p.Failed)
	}
	if p.Failed == pipe.Waiter {
		said += "\nThis container runs the image " + env.PipeImage + ", which needs sh, sleep, wc and cat; the executor's flag --pipe-image names another one"
	}
	return fault.Finalf(fault.ReasonPipe, "%s: %s; %s", t.podRef, p.Message, said)
}

func (t *pipeTask) lastLines(ctx context.Context, env Env, container string) string {
	const lines = 10
	switch log, err := env.Pods.LastLines(ctx, t.container(container), lines); {
	case err != nil:
		return "its log cannot be read: " + err.Error()
	case log != "":
		return "the end of its log:\n" + log
	}
	return "its log is empty"
}

func (t *pipeTask) container(name string) podfiles.Container {
	return podfiles.Container{Namespace: t.podRef.Namespace, Pod: t.podRef.Name, Name: name}
}

// giveUp deletes the pod if the task cannot be saved, before that is on record.
func (t *pipeTask) giveUp(ctx context.Context, env Env, failure error) error {
	if _, final := fault.Classify(failure); !final {
		return failure
	}
	if err := t.remove(ctx, env); err != nil {
		return fault.Retryf("%w; its pod is deleted before the run ends: %w", fault.Unmarked(failure), err)
	}
	return failure
}

// remove deletes the pod if it is one of this run.
func (t *pipeTask) remove(ctx context.Context, env Env) error {
	if t.gone {
		return nil
	}
	live, err := env.Client.Get(ctx, t.podRef)
	if err != nil {
		return err
	}
	if live != nil && live.GetDeletionTimestamp() == nil && live.GetAnnotations()[apply.AnnotationRunUID] == string(env.Identity.RunUID) && live.GetAnnotations()[pipe.Annotation] == "true" {
		if _, err := env.Client.Delete(ctx, t.podRef); err != nil {
			return err
		}
	}
	t.gone = true
	return nil
}

func (t *pipeTask) objects() []v1beta1.ObjectExecutionStatus {
	if t.pod == nil {
		return nil
	}
	pod := v1beta1.ObjectExecutionStatus{APIVersion: "v1", Kind: "Pod", Namespace: t.podRef.Namespace, Name: t.podRef.Name, UID: t.uid, Ready: t.stored, Deleted: t.gone, Message: t.detail}
	if t.gone && t.stored {
		pod.Message = "deleted"
	}
	out := []v1beta1.ObjectExecutionStatus{pod}
	for _, a := range t.artifacts {
		if t.stored {
			out = append(out, v1beta1.ObjectExecutionStatus{APIVersion: a.APIVersion, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name, Ready: true})
		}
	}
	return out
}
