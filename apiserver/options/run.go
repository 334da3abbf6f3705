// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/klog/v2"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"kudo.dev/kudo/apiserver"
	"kudo.dev/kudo/apiserver/certificates"
	"kudo.dev/kudo/apiserver/etcd"
)

// RunServer runs a server until ctx ends, or until its storage fails.
func (o *Options) RunServer(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tuneCollector()
	kube, err := o.kubeConfig()
	if err != nil {
		return err
	}
	publisher, err := o.certificate(ctx, kube)
	if err != nil {
		return err
	}
	if o.embedded() {
		storage, err := etcd.Start(ctx, o.DataDir)
		if err != nil {
			return err
		}
		// etcd stops after the server, whose requests it answers.
		defer storage.Stop()
		go func() {
			if err, failed := <-storage.Failed(); failed {
				cancel(fmt.Errorf("the embedded etcd failed: %w", err))
			}
		}()
		o.Recommended.Etcd.StorageConfig.Transport.ServerList = []string{storage.Endpoint}
	}
	server, err := o.server(ctx, kube, publisher)
	if err != nil {
		return err
	}
	if err := server.PrepareRun().RunWithContext(ctx); err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// kubeConfig is how the server reaches kube-apiserver.
func (o *Options) kubeConfig() (*rest.Config, error) {
	var config *rest.Config
	var err error
	if path := o.Recommended.CoreAPI.CoreAPIKubeconfigPath; path != "" {
		config, err = clientcmd.BuildConfigFromFlags("", path)
	} else {
		config, err = rest.InClusterConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("no way to kube-apiserver: %w; outside of a cluster, name a kubeconfig with --kubeconfig", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	return config, nil
}

// certificate sees to the serving certificate, unless the flags name files.
func (o *Options) certificate(ctx context.Context, kube *rest.Config) (*certificates.Publisher, error) {
	if !o.ownCertificate() {
		return nil, nil
	}
	client, err := kubernetes.NewForConfig(kube)
	if err != nil {
		return nil, err
	}
	registration, err := aggregator.NewForConfig(kube)
	if err != nil {
		return nil, err
	}
	provider := certificates.NewProvider(client, o.ServiceNamespace, o.CertificateSecret, o.hosts())
	if err := provider.RunOnce(ctx); err != nil {
		return nil, err
	}
	o.Recommended.SecureServing.ServerCert.GeneratedCert = provider
	return certificates.NewPublisher(registration, apiServiceName, o.ServiceNamespace, o.ServiceName, provider), nil
}

// server makes the server from the flags.
func (o *Options) server(ctx context.Context, kube *rest.Config, publisher *certificates.Publisher) (*genericapiserver.GenericAPIServer, error) {
	config := apiserver.NewGenericConfig()
	if err := o.Run.ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	config.EffectiveVersion = o.components.EffectiveVersionFor(component)
	config.FeatureGate = o.components.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	client, err := kubernetes.NewForConfig(kube)
	if err != nil {
		return nil, err
	}
	unusable, err := unusablePlugins(ctx, client)
	if err != nil {
		return nil, err
	}
	o.Recommended.Admission.DisablePlugins = append(o.Recommended.Admission.DisablePlugins, unusable...)
	o.Recommended.ExtraAdmissionInitializers = func(*genericapiserver.RecommendedConfig) ([]admission.PluginInitializer, error) {
		return []admission.PluginInitializer{newQuotaInitializer()}, nil
	}
	if err := o.Recommended.ApplyTo(config); err != nil {
		return nil, err
	}
	server, err := (&apiserver.Config{Generic: config}).Complete().New()
	if err != nil {
		return nil, err
	}
	if publisher != nil {
		err = server.AddPostStartHook("kudo-ca-bundle", func(hook genericapiserver.PostStartHookContext) error {
			go publisher.Run(hook)
			return nil
		})
	}
	klog.FromContext(ctx).Info("Serving", "address", o.Recommended.SecureServing.BindAddress, "port", o.Recommended.SecureServing.BindPort)
	return server, err
}
