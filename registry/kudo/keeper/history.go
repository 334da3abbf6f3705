// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package keeper

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/apis/kudo"
	"kudo.dev/kudo/registry/kudo/history"
)

// pruneWorkers is how many histories are pruned at the same time. A long one does not hold up all others.
const pruneWorkers = 2

// chronicle sees to it that the history of each Instance is pruned after a run has ended, after a limit has changed, and at the start
// of the server. It has a queue and workers of its own, so that nobody waits for a lock while runs are being deleted.
type chronicle struct {
	pruner *history.Pruner
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]

	mutex sync.Mutex
	// due are the Instances to be pruned as soon as lock and run have been brought together: what the Instance does not know the end
	// of is not history.
	due sets.Set[cache.ObjectName]
	// limits are those that each Instance had when it was last seen.
	limits map[cache.ObjectName][2]int
}

func newChronicle(pruner *history.Pruner) *chronicle {
	return &chronicle{pruner: pruner, due: sets.New[cache.ObjectName](), limits: map[cache.ObjectName][2]int{},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, 30*time.Second),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "history"})}
}

// run works until ctx ends.
func (c *chronicle) run(ctx context.Context) {
	defer c.queue.ShutDown()
	for range pruneWorkers {
		go wait.UntilWithContext(ctx, c.work, time.Second)
	}
	<-ctx.Done()
}

// runEnded notes that an Instance has a run more that has ended, or one less.
func (c *chronicle) runEnded(key cache.ObjectName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.due.Insert(key)
}

// limitsChanged notes the limits of an Instance and tells whether they differ from those that were seen before. The first ones do.
func (c *chronicle) limitsChanged(i *kudo.Instance, deleted bool) bool {
	key := cache.MetaObjectToName(i)
	successful, failed := history.Limits(i)
	now := [2]int{successful, failed}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if deleted {
		delete(c.limits, key)
		return false
	}
	if before, seen := c.limits[key]; seen && before == now {
		return false
	}
	c.limits[key] = now
	c.due.Insert(key)
	return true
}

// together is called when lock and run of an Instance are as they should be: what is due is pruned now.
func (c *chronicle) together(key cache.ObjectName) {
	c.mutex.Lock()
	due := c.due.Has(key)
	c.due.Delete(key)
	c.mutex.Unlock()
	if due {
		c.queue.Add(key)
	}
}

func (c *chronicle) work(ctx context.Context) {
	for {
		key, stop := c.queue.Get()
		if stop {
			return
		}
		again, err := c.pruner.Prune(ctx, key.Namespace, key.Name)
		switch {
		case apierrors.IsTooManyRequests(err): // the cache is not filled yet
			c.queue.AddRateLimited(key)
		case err != nil && ctx.Err() == nil:
			klog.FromContext(ctx).Error(err, "Cannot delete what is surplus of the history; trying again", "instance", key)
			c.queue.AddRateLimited(key)
		case again > 0:
			c.queue.Forget(key)
			c.queue.AddAfter(key, again)
		default:
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}
