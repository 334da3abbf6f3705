// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"kudo.dev/kudo/executor"
	"kudo.dev/kudo/executor/podfiles"
	clientset "kudo.dev/kudo/generated/clientset/versioned"
	"kudo.dev/kudo/generated/clientset/versioned/scheme"
)

// Run carries out plans until ctx ends, which is no error, or the lease is lost, which is one.
func (o *Options) Run(ctx context.Context) error {
	if err := o.Validate(); err != nil {
		return err
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client of the cluster: %w", err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	c, err := o.controller(config, kube, broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: executor.Component}))
	if err != nil {
		return err
	}
	checks := newChecks(c)
	stop, err := o.serve(ctx, checks)
	if err != nil {
		return err
	}
	defer stop()
	if !o.LeaderElection.Enabled {
		checks.lead()
		return c.Run(ctx)
	}
	return o.lead(ctx, kube, checks, c.Run)
}

func (o *Options) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags(o.Server, o.Kubeconfig)
	if err != nil {
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("no API server: %w; give --kubeconfig or run in a pod", err)
		}
		return nil, fmt.Errorf("reading --kubeconfig: %w", err)
	}
	config.QPS, config.Burst = o.QPS, o.Burst
	return rest.AddUserAgent(config, executor.Component), nil
}

func (o *Options) controller(config *rest.Config, kube kubernetes.Interface, events record.EventRecorder) (*executor.Controller, error) {
	// No content types are set: the typed clients prefer protobuf by themselves, the dynamic one needs JSON.
	kudo, err := clientset.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client of kudo.dev: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("dynamic client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("discovery client: %w", err)
	}
	klog.V(1).InfoS("Using API server", "host", config.Host)
	return executor.New(executor.Config{Kudo: kudo, Dynamic: dyn, Discovery: disco, Events: events, Workers: o.Workers,
		Pods: podfiles.New(config, kube), PipeImage: o.PipeImage, StuckLimit: o.StuckPodLimit}), nil
}
