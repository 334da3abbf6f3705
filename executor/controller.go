// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package executor

import (
	"context"
	"strings"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/apply"
	"kudo.dev/kudo/executor/health"
	"kudo.dev/kudo/executor/pipe"
	"kudo.dev/kudo/executor/podfiles"
	"kudo.dev/kudo/executor/readiness"
	"kudo.dev/kudo/executor/watch"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	listers "kudo.dev/kudo/generated/listers/kudo/v1beta1"
)

// Config is what a Controller works with.
type Config struct {
	Kudo      clientset.Interface
	Dynamic   dynamic.Interface
	Discovery discovery.DiscoveryInterface
	Events    record.EventRecorder
	// Pods reads files and logs of containers, for Pipe tasks.
	Pods podfiles.Reader
	// PipeImage is the image of the container that keeps the files of a Pipe task readable; default pipe.DefaultImage.
	PipeImage string
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Workers is how many runs are worked on at the same time; default 4.
	Workers int
	// StuckLimit is how long pods of a workload may be stuck before the run fails; 0 means without end.
	StuckLimit time.Duration
}

// Controller carries out all PlanExecutions of a cluster. Only one may run at a time.
type Controller struct {
	Config
	client  *apply.Client
	storage health.Lookup
	hub     *watch.Hub
	queue   workqueue.TypedRateLimitingInterface[string]

	runsMirror, instanceMirror *mirror
	executions                 listers.PlanExecutionLister
	instances                  listers.InstanceLister

	turns turns
	// readiness says whether the Instances are ready on which no plan runs.
	readiness *readiness.Controller

	mu   sync.Mutex
	runs map[string]*run
	// working holds, for the runs that are worked on, how to interrupt that.
	working map[string]context.CancelFunc
	// departures are by the key of the Instance in the queue.
	departures map[string]*departure
}

const (
	instanceIndex = "instance"
	// safetyNet is how often a run that waits reads the cluster although no event came.
	safetyNet = 5 * time.Minute
	// After an error of our own API the next try comes soon, so that a lock does not outlive its run for long.
	retryFirst = 100 * time.Millisecond
	retryMost  = 2 * time.Second
)

// New makes a controller; nothing runs before Run.
func New(cfg Config) *Controller {
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}
	if cfg.Workers <= 0 {
		cfg.Workers = 4
	}
	if cfg.PipeImage == "" {
		cfg.PipeImage = pipe.DefaultImage
	}
	c := &Controller{Config: cfg, runs: map[string]*run{}, working: map[string]context.CancelFunc{}, departures: map[string]*departure{}, storage: storageClasses{cfg.Dynamic}}
	c.client = &apply.Client{Kinds: apply.NewKinds(cfg.Discovery, cfg.Dynamic, cfg.Clock), Dynamic: cfg.Dynamic}
	c.queue = workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](retryFirst, retryMost),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "planexecutions", Clock: cfg.Clock})
	c.readiness = readiness.New(cfg.Clock)
	client := cfg.Kudo.KudoV1beta1()
	source := func(lw *cache.ListWatch) cache.ListerWatcher {
		return cache.ToListWatcherWithWatchListSemantics(lw, cfg.Kudo)
	}
	c.runsMirror = newMirror(source(patient("planexecutions", client.PlanExecutions("").List, client.PlanExecutions("").Watch)),
		&v1beta1.PlanExecution{}, cache.Indexers{instanceIndex: indexByInstance}, c.runChanged, c.runDeleted)
	c.instanceMirror = newMirror(source(patient("instances", client.Instances("").List, client.Instances("").Watch)),
		&v1beta1.Instance{}, cache.Indexers{}, c.instanceChanged, c.instanceDeleted)
	c.executions, c.instances = listers.NewPlanExecutionLister(c.runsMirror), listers.NewInstanceLister(c.instanceMirror)
	return c
}

// Run works until ctx ends and returns when all work has stopped. It waits for as long as it takes for kudo.dev to be served.
func (c *Controller) Run(ctx context.Context) error {
	defer utilruntime.HandleCrash()
	logger := klog.FromContext(ctx)
	c.client.Life = ctx
	c.hub = watch.New(ctx, c.Dynamic, c.notify)
	c.readiness.Kudo, c.readiness.Client, c.readiness.Hub, c.readiness.Lookup, c.readiness.Instances = c.Kudo, c.client, c.hub, c.storage, c.instances
	var mirrors, workers sync.WaitGroup
	for _, m := range []*mirror{c.runsMirror, c.instanceMirror} {
		mirrors.Go(func() { m.run(ctx) })
	}
	defer func() {
		c.queue.ShutDown()
		workers.Wait()
		mirrors.Wait()
		c.hub.Wait()
	}()
	logger.Info("Waiting for kudo.dev to be served")
	if !cache.WaitForCacheSync(ctx.Done(), c.runsMirror.HasSynced, c.instanceMirror.HasSynced) {
		return nil // ctx ended
	}
	logger.Info("Carrying out PlanExecutions", "workers", c.Workers)
	for range c.Workers {
		workers.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	workers.Go(func() { c.sweepPipesOnce(ctx) })
	workers.Go(func() { c.readiness.Run(ctx) })
	<-ctx.Done()
	return nil
}

// notify passes on what the hub says: that something happened which a run or the readiness of an Instance depends on.
func (c *Controller) notify(waiter string) {
	if instance, ok := strings.CutPrefix(waiter, readiness.Waiters); ok {
		c.readiness.Enqueue(instance)
		return
	}
	c.queue.Add(waiter)
}

// Synced says whether the controller has seen what there is to do.
func (c *Controller) Synced() bool {
	return c.runsMirror.HasSynced() && c.instanceMirror.HasSynced()
}

func (c *Controller) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	logger := klog.FromContext(ctx).WithValues("planExecution", key)
	work := c.sync
	if strings.HasPrefix(key, departing) {
		work, logger = c.depart, klog.FromContext(ctx).WithValues("instance", strings.TrimPrefix(key, departing))
	}
	err := work(klog.NewContext(ctx, logger), key)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		c.logOnce(logger, key, err)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}
