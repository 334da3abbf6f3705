// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"kudo.dev/kudo/generated/clientset/versioned"
)

// environment is what a command works with: where it prints to and how it reaches the cluster.
type environment struct {
	genericiooptions.IOStreams
	// flags are --namespace, --context, --kubeconfig, --as and so on.
	flags *genericclioptions.ConfigFlags
	// connect is called once a command knows that its arguments are right. Tests replace it.
	connect func() (*cluster, error)
}

// cluster is a connection to a cluster, and the namespace that the user has chosen.
type cluster struct {
	kudo      versioned.Interface
	version   discovery.ServerVersionInterface
	namespace string
}

// newEnvironment returns an environment for real use.
func newEnvironment(streams genericiooptions.IOStreams) *environment {
	env := &environment{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true)}
	env.connect = env.connectToCluster
	return env
}

// connectToCluster makes clients as the flags and the kubeconfig say. It does not talk to the cluster yet.
func (env *environment) connectToCluster() (*cluster, error) {
	namespace, _, err := env.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	config, err := env.flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NewWarningWriter(env.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	return &cluster{kudo: client, version: client.Discovery(), namespace: namespace}, nil
}
