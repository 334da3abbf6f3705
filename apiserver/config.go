// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apiserver

import (
	"k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	corelisters "k8s.io/client-go/listers/core/v1"

	generatedopenapi "kudo.dev/kudo/generated/openapi"
	"kudo.dev/kudo/registry/kudo"
)

// Config is what a server is made of.
type Config struct {
	// Generic is the configuration of the generic API server, with storage, authentication and admission.
	Generic *genericapiserver.RecommendedConfig
}

type completedConfig struct {
	generic    genericapiserver.CompletedConfig
	namespaces corelisters.NamespaceLister
}

// CompletedConfig can only be made by Complete.
type CompletedConfig struct{ *completedConfig }

// NewGenericConfig is a configuration with what every kudo-apiserver has: OpenAPI, and what counts as long running.
func NewGenericConfig() *genericapiserver.RecommendedConfig {
	c := genericapiserver.NewRecommendedConfig(Codecs)
	namer := openapi.NewDefinitionNamer(Scheme)
	c.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(generatedopenapi.GetOpenAPIDefinitions, namer)
	c.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, namer)
	for _, info := range []*string{&c.OpenAPIConfig.Info.Title, &c.OpenAPIV3Config.Info.Title} {
		*info = "KUDO"
	}
	c.LongRunningFunc = longRunning()
	c.BuildHandlerChainFunc = buildHandlerChain
	return c
}

// Complete fills in what follows from the rest.
func (c *Config) Complete() CompletedConfig {
	if authz := &c.Generic.Authorization; authz.Authorizer != nil {
		authz.Authorizer = wholeFirst{authz.Authorizer}
	}
	completed := &completedConfig{generic: c.Generic.Complete()}
	if informers := c.Generic.SharedInformerFactory; informers != nil {
		completed.namespaces = informers.Core().V1().Namespaces().Lister()
	}
	return CompletedConfig{completed}
}

// New makes the server.
func (c completedConfig) New() (*genericapiserver.GenericAPIServer, error) {
	server, err := c.generic.New("kudo-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	provider := kudo.StorageProvider{
		Scheme:     Scheme,
		Codecs:     Codecs,
		Authorizer: c.generic.Authorization.Authorizer,
		Admission:  c.generic.AdmissionControl,
		Namespaces: c.namespaces,
		Shutdown:   c.generic.ShutdownInitiatedNotify(),
	}
	group, keeper, err := provider.Group(c.generic.RESTOptionsGetter)
	if err != nil {
		return nil, err
	}
	if err := server.InstallAPIGroup(group); err != nil {
		return nil, err
	}
	if err := installTriggerRoute(server); err != nil {
		return nil, err
	}
	if err := installStreams(server, group, c.generic.ShutdownInitiatedNotify()); err != nil {
		return nil, err
	}
	if front := c.generic.Authentication.RequestHeaderConfig; front != nil {
		if err := server.AddReadyzChecks(trustCheck(front.CAContentProvider.CurrentCABundleContent)); err != nil {
			return nil, err
		}
	}
	err = server.AddPostStartHook("kudo-lock-keeper", func(hook genericapiserver.PostStartHookContext) error {
		go keeper.Run(hook)
		return nil
	})
	return server, err
}
