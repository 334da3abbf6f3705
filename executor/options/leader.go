// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

var errLostLease = errors.New("the lease was lost; ending, because another executor may be working now")

// lead waits for the lease and works while holding it. On the end of ctx the work is stopped first and the lease given
// back after that, so that the next executor can start at once and never beside this one.
func (o *Options) lead(ctx context.Context, kube kubernetes.Interface, checks *checks, work func(context.Context) error) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name of this host, which the lease needs: %w", err)
	}
	l := o.LeaderElection
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name},
		Client:     kube.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	var (
		once   sync.Once
		failed error
		ended  = make(chan struct{}) // closed when work has returned
		led    = make(chan struct{}) // closed when work has begun
	)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: l.LeaseDuration, RenewDeadline: l.RenewDeadline, RetryPeriod: l.RetryPeriod, ReleaseOnCancel: true, Name: l.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lease context.Context) {
				defer close(ended)
				close(led)
				checks.lead()
				// Work ends when the lease is lost or ctx ends, whichever is first.
				working, cancel := context.WithCancel(lease)
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				failed = work(working)
			},
			OnStoppedLeading: func() { once.Do(checks.follow) },
			OnNewLeader:      func(id string) { klog.InfoS("The lease is held", "by", id, "us", id == lock.Identity()) },
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	go func() {
		defer release()
		select {
		case <-ctx.Done():
		case <-holding.Done():
			return
		}
		select {
		case <-led:
			<-ended
		default:
		}
	}()
	elector.Run(holding)
	if ctx.Err() == nil {
		return errLostLease
	}
	select {
	case <-led:
		<-ended
	default:
	}
	return failed
}
