// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

// Package keeper heals what a server that was killed half way left behind: a lock without its run, a run whose end the Instance
// does not know, an Instance that waits for a cleanup which cannot run. It watches Instances and runs, and looks at each Instance that
// is locked, is being deleted, or whose run has ended, a moment after the change; what is in order costs a read or two. Any number of servers may run it at the same time.
//
// It also says when the history of an Instance is pruned (history.go).
//
// It may import the hub types and the packages history, instance, lock, planexecution and store.
package keeper

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/history"
	"kudo.dev/kudo/registry/kudo/instance"
	"kudo.dev/kudo/registry/kudo/lock"
	"kudo.dev/kudo/registry/kudo/planexecution"
	"kudo.dev/kudo/registry/kudo/store"
)

// patience is how long the request that changed an Instance has to finish its own work before the keeper looks.
const patience = time.Second

// workers is how many Instances are looked at at the same time: after a restart there may be many, and none may wait long.
const workers = 4

// Keeper keeps locks and runs together.
type Keeper struct {
	instances  *instance.REST
	executions *planexecution.REST
	queue      workqueue.TypedRateLimitingInterface[cache.ObjectName]
	chronicle  *chronicle
}

// New makes a Keeper, which prunes histories with the pruner; Run starts it.
func New(instances *instance.REST, executions *planexecution.REST, pruner *history.Pruner) *Keeper {
	return &Keeper{chronicle: newChronicle(pruner), instances: instances, executions: executions, queue: workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, 5*time.Second),
		workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "lock_keeper"})}
}

// Run works until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	defer k.queue.ShutDown()
	go k.chronicle.run(ctx)
	go k.informer(k.instances, &kudo.Instance{}, lockOnly, k.instanceChanged).RunWithContext(ctx)
	go k.informer(k.executions, &kudo.PlanExecution{}, endOnly, k.runEnded).RunWithContext(ctx)
	for range workers {
		go wait.UntilWithContext(ctx, k.work, time.Second)
	}
	<-ctx.Done()
}

// source is a store that can be listed and watched.
type source interface {
	rest.Lister
	rest.Watcher
}

// informer follows all objects of a store and calls changed for each, however it changed.
func (k *Keeper) informer(from source, kind runtime.Object, keep cache.TransformFunc, changed func(obj any, deleted bool)) cache.Controller {
	everywhere := func(ctx context.Context) context.Context {
		return genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return from.List(everywhere(ctx), internal(options))
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				w, err := from.Watch(everywhere(ctx), internal(options))
				if err != nil {
					return nil, err
				}
				return store.PlainWatch(w), nil
			},
		},
		ObjectType: kind, Transform: keep,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { changed(obj, false) },
			UpdateFunc: func(_, obj any) { changed(obj, false) },
			DeleteFunc: func(obj any) { changed(obj, true) },
		},
	})
	return controller
}

// internal translates the options of a reflector; the store takes the hub form.
func internal(o metav1.ListOptions) *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{
		ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
		AllowWatchBookmarks: o.AllowWatchBookmarks, SendInitialEvents: o.SendInitialEvents,
		Limit: o.Limit, Continue: o.Continue, TimeoutSeconds: o.TimeoutSeconds,
	}
}

// lockOnly keeps of an Instance what the keeper reads, so that it costs little memory.
func lockOnly(obj any) (any, error) {
	i, ok := obj.(*kudo.Instance)
	if !ok {
		return obj, nil
	}
	return &kudo.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: i.Name, Namespace: i.Namespace, UID: i.UID, ResourceVersion: i.ResourceVersion, DeletionTimestamp: i.DeletionTimestamp},
		Spec: kudo.InstanceSpec{PlanExecution: kudo.InstancePlanExecution{UID: i.Spec.PlanExecution.UID},
			SuccessfulRunsHistoryLimit: i.Spec.SuccessfulRunsHistoryLimit, FailedRunsHistoryLimit: i.Spec.FailedRunsHistoryLimit},
	}, nil
}

// endOnly keeps of a run what the keeper reads.
func endOnly(obj any) (any, error) {
	pe, ok := obj.(*kudo.PlanExecution)
	if !ok {
		return obj, nil
	}
	return &kudo.PlanExecution{
		ObjectMeta: metav1.ObjectMeta{Name: pe.Name, Namespace: pe.Namespace, UID: pe.UID, ResourceVersion: pe.ResourceVersion},
		Spec:       kudo.PlanExecutionSpec{InstanceName: pe.Spec.InstanceName},
		Status:     kudo.PlanExecutionStatus{Status: pe.Status.Status},
	}, nil
}

func (k *Keeper) instanceChanged(obj any, deleted bool) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	if i, ok := obj.(*kudo.Instance); ok && (k.chronicle.limitsChanged(i, deleted) || lock.Held(i) || i.DeletionTimestamp != nil) {
		k.queue.AddAfter(cache.MetaObjectToName(i), patience)
	}
}

// runEnded looks whether the Instance knows of the end of a run, or that it was deleted.
func (k *Keeper) runEnded(obj any, deleted bool) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	pe, ok := obj.(*kudo.PlanExecution)
	if !ok || (!deleted && !pe.Status.Status.IsTerminal()) {
		return
	}
	k.chronicle.runEnded(cache.NewObjectName(pe.Namespace, pe.Spec.InstanceName))
	k.queue.AddAfter(cache.NewObjectName(pe.Namespace, pe.Spec.InstanceName), patience)
}

func (k *Keeper) work(ctx context.Context) {
	for {
		key, stop := k.queue.Get()
		if stop {
			return
		}
		if err := k.look(ctx, key); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Cannot bring lock and run together; trying again", "instance", key)
			k.queue.AddRateLimited(key)
		} else {
			k.queue.Forget(key)
			k.chronicle.together(key)
		}
		k.queue.Done(key)
	}
}

// look brings the lock of one Instance and its run together.
func (k *Keeper) look(ctx context.Context, key cache.ObjectName) error {
	ctx = genericapirequest.WithNamespace(ctx, key.Namespace)
	if k.inOrder(ctx, key.Name) {
		return nil
	}
	obj, err := k.instances.Get(ctx, key.Name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	i := obj.(*kudo.Instance)
	if i.DeletionTimestamp != nil {
		if err := k.instances.Clean(ctx, i.Name); err != nil {
			return err
		}
	}
	wanted := lock.Execution(i)
	if wanted == nil {
		return nil
	}
	found, err := k.executions.Get(ctx, wanted.Name, &metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return k.missing(ctx, i, wanted)
	case err != nil:
		return err
	case found.(*kudo.PlanExecution).UID != wanted.UID:
		return k.executions.Follow(ctx, i) // says so in the Instance and releases it
	}
	return k.instances.Record(ctx, found.(*kudo.PlanExecution))
}

// inOrder tells whether nothing is to be done for an Instance, as far as the watch cache knows, which costs no call to the storage. If
// the cache is behind, the change that it does not have yet brings the Instance here again.
func (k *Keeper) inOrder(ctx context.Context, name string) bool {
	obj, err := k.instances.Get(ctx, name, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	i := obj.(*kudo.Instance)
	if i.DeletionTimestamp != nil {
		return false
	}
	wanted := lock.Execution(i)
	if wanted == nil {
		return true
	}
	found, err := k.executions.Get(ctx, wanted.Name, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil || found.(*kudo.PlanExecution).UID != wanted.UID {
		return false
	}
	return !lock.Record(i.DeepCopy(), found.(*kudo.PlanExecution), time.Now())
}

// missing creates the run that was accepted. One that had begun was created and then deleted: it is over.
func (k *Keeper) missing(ctx context.Context, i *kudo.Instance, run *kudo.PlanExecution) error {
	switch {
	case i.DeletionTimestamp != nil && run.Spec.PlanName != kudo.CleanupPlanName:
		if err := k.executions.EndPredecessor(ctx, i); err != nil {
			return err
		}
		return k.instances.Abort(ctx, run, "the Instance is being deleted")
	case i.Spec.PlanExecution.Status == kudo.ExecutionPending:
		return k.executions.Follow(ctx, i)
	}
	return k.instances.Abort(ctx, run, planexecution.DeletedMessage)
}
