// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package certificates

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/kube-aggregator/pkg/client/informers/externalversions"
)

// Publisher keeps the caBundle of the APIService equal to what the provider's clients must trust.
type Publisher struct {
	client             aggregator.Interface
	apiService         string
	namespace, service string
	provider           *Provider
	queue              workqueue.TypedRateLimitingInterface[string]
}

// NewPublisher makes a publisher for the APIService of this name. One that does not point at the Service is left alone.
func NewPublisher(client aggregator.Interface, apiService, namespace, service string, provider *Provider) *Publisher {
	return &Publisher{client, apiService, namespace, service, provider,
		workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](200*time.Millisecond, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "ca_bundle"})}
}

// Enqueue is called by the provider when what clients must trust has changed.
func (p *Publisher) Enqueue() { p.queue.Add(p.apiService) }

// Run works until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	defer p.queue.ShutDown()
	factory := externalversions.NewSharedInformerFactoryWithOptions(p.client, 0,
		externalversions.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", p.apiService).String()
		}))
	changed := func(any) { p.Enqueue() }
	_, err := factory.Apiregistration().V1().APIServices().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed})
	if err != nil {
		klog.FromContext(ctx).Error(err, "Changes of the APIService are not noticed")
	}
	factory.Start(ctx.Done())
	p.provider.AddListener(p)
	p.Enqueue()
	go wait.UntilWithContext(ctx, p.work, time.Second)
	<-ctx.Done()
}

func (p *Publisher) work(ctx context.Context) {
	for {
		key, stop := p.queue.Get()
		if stop {
			return
		}
		if err := p.publish(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "Cannot announce the certificate authority; trying again", "apiService", p.apiService)
			p.queue.AddRateLimited(key)
		} else {
			p.queue.Forget(key)
		}
		p.queue.Done(key)
	}
}

func (p *Publisher) publish(ctx context.Context) error {
	bundle := p.provider.Bundle()
	if len(bundle) == 0 {
		return nil
	}
	services := p.client.ApiregistrationV1().APIServices()
	current, err := services.Get(ctx, p.apiService, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Info("The APIService does not exist: no client reaches this server through kube-apiserver. Apply the installation manifests", "apiService", p.apiService)
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.ours(current); err != nil {
		klog.FromContext(ctx).Error(err, "The group is not served by this server", "apiService", p.apiService)
		return nil
	}
	if bytes.Equal(current.Spec.CABundle, bundle) && !current.Spec.InsecureSkipTLSVerify {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": current.ResourceVersion},
		"spec":     map[string]any{"caBundle": bundle, "insecureSkipTLSVerify": false},
	})
	if err != nil {
		return err
	}
	if _, err := services.Patch(ctx, p.apiService, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kudo-apiserver"}); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Announced the certificate authority", "apiService", p.apiService)
	return nil
}

// ours says what is wrong with an APIService that leads elsewhere.
func (p *Publisher) ours(s *apiregistration.APIService) error {
	if s.Spec.Service == nil {
		return fmt.Errorf("kube-apiserver serves the group itself, from CustomResourceDefinitions of an earlier KUDO: " +
			"apply the APIService of the installation manifests, which carries the label kube-aggregator.kubernetes.io/automanaged=false")
	}
	if s.Spec.Service.Namespace != p.namespace || s.Spec.Service.Name != p.service {
		return fmt.Errorf("it points at service %s/%s and not at %s/%s; correct it, or start this server with --service-namespace and --service-name",
			s.Spec.Service.Namespace, s.Spec.Service.Name, p.namespace, p.service)
	}
	return nil
}
