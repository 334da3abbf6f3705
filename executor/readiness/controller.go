// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package readiness

import (
	"context"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/watch"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	listers "kudo.dev/kudo/generated/listers/kudo/v1beta1"
)

// Waiters is what the names of the hub's waiters begin with that are Instances and not runs.
const Waiters = "instance:"

const (
	// workers is how many Instances are judged at the same time.
	workers = 2
	// callTimeout bounds one call.
	callTimeout = 30 * time.Second
	// After an error the next try comes after retryFirst to retryMost.
	retryFirst = 200 * time.Millisecond
	retryMost  = time.Minute
)

// Controller keeps the condition Ready. All fields but the clock have to be set before Run.
type Controller struct {
	Kudo      clientset.Interface
	Client    *apply.Client
	Hub       *watch.Hub
	Lookup    health.Lookup
	Instances listers.InstanceLister
	Clock     clock.WithTicker

	queue workqueue.TypedRateLimitingInterface[string]
	mu    sync.Mutex
	known map[string]*known
}

// known is what is remembered of an Instance. One worker at a time uses it, because the queue hands out a key to one at a time.
type known struct {
	uid types.UID
	// inventory is that whose objects the hub watches for us.
	inventory []v1beta1.InventoryEntry
	// pods are the objects whose pods the hub watches, too.
	pods map[types.UID]bool
	pace pace
}

// New makes a controller without clients; Enqueue may be called from then on.
func New(c clock.WithTicker) *Controller {
	return &Controller{Clock: c, known: map[string]*known{}, queue: workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryFirst, retryMost),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "readiness", Clock: c})}
}

// Enqueue has an Instance looked at, by its namespace/name.
func (c *Controller) Enqueue(key string) { c.queue.Add(key) }

// ShutDown ends the queue; Run does so when it ends. One that was made and never ran needs it.
func (c *Controller) ShutDown() { c.queue.ShutDown() }

// Run works until ctx ends, and returns when all work has stopped.
func (c *Controller) Run(ctx context.Context) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.ShutDown()
	group.Wait()
}

func (c *Controller) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	again, err := c.look(ctx, key)
	switch {
	case ctx.Err() != nil:
		return false
	case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
		// The Instance has changed, or has gone, and the watch brings that.
		c.queue.Forget(key)
	case err != nil:
		klog.FromContext(ctx).Info("Cannot say whether the Instance is ready; trying again", "instance", key, "err", err)
		c.queue.AddRateLimited(key)
	default:
		c.queue.Forget(key)
		if again > 0 {
			c.queue.AddAfter(key, again)
		}
	}
	return true
}

// look brings the condition of one Instance up to date. again is when to look again though nothing happens.
func (c *Controller) look(ctx context.Context, key string) (again time.Duration, err error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, nil //nolint:nilerr // not a key of ours
	}
	i, err := c.Instances.Instances(namespace).Get(name)
	if err != nil || i.DeletionTimestamp != nil {
		c.forget(key)
		return 0, nil //nolint:nilerr // a lister has but one error: the Instance is gone
	}
	k := c.knownOf(key, i.UID)
	if !ours(i) {
		return 0, nil
	}
	if !apiequality.Semantic.DeepEqual(k.inventory, i.Status.Inventory) { // what it does not list any more need not be watched
		c.Hub.Release(watch.Waiter{Run: Waiters + key})
		k.inventory, k.pods = i.Status.Inventory, map[types.UID]bool{}
	}
	v := c.judge(ctx, key, k, i)
	if v.wait {
		return v.again, nil
	}
	return c.write(ctx, i, k, v)
}

func (c *Controller) knownOf(key string, uid types.UID) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.known[key]; k != nil && k.uid == uid {
		return k
	}
	c.Hub.Release(watch.Waiter{Run: Waiters + key})
	k := &known{uid: uid, pods: map[types.UID]bool{}}
	c.known[key] = k
	return k
}

func (c *Controller) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[key] != nil {
		delete(c.known, key)
		c.Hub.Release(watch.Waiter{Run: Waiters + key})
	}
}
