// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// launch starts what does not run and returns when all of it works.
func (c *Cluster) launch(ctx context.Context) error {
	begin := time.Now()
	client, err := c.adminClient()
	if err != nil {
		return err
	}
	// All but KWOK at once: each waits for what it needs by itself.
	for _, p := range c.components() {
		if p.name == kwok || c.pid(p.name) != 0 {
			continue
		}
		if err := c.start(p); err != nil {
			return err
		}
	}
	if err := c.until(ctx, "kube-apiserver to be ready", c.ready(client), etcd, kubeAPIServer); err != nil {
		return err
	}
	c.log("kube-apiserver is ready at %s (%s)", c.URL(), since(begin))
	if c.state.Mode == ModeAPI {
		return nil
	}
	if err := c.revive(kubeControllerManager, kubeScheduler); err != nil {
		return err
	}
	launchNodes := map[Mode]func(context.Context, kubernetes.Interface) error{ModeNodes: c.launchNodes, ModeContainers: c.launchContainers}[c.state.Mode]
	if launchNodes != nil {
		if err := launchNodes(ctx, client); err != nil {
			return err
		}
		c.log("%d node(s) are Ready (%s)", c.state.NodeCount, since(begin))
	}
	err = c.until(ctx, "the controllers to make service accounts", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	}, c.names()...)
	if err == nil {
		c.log("the controllers act (%s)", since(begin))
	}
	return err
}

// revive starts those that ended while they waited for the API server: the
// controller manager gives up after ten seconds, which a busy machine may need.
func (c *Cluster) revive(names ...string) error {
	for _, p := range c.components() {
		for _, name := range names {
			if p.name != name || c.pid(name) != 0 {
				continue
			}
			c.log("%s ended before the API server was ready: starting it again", name)
			if err := c.start(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) ready(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}
}

// adminClient gives up on one request after seconds: what is asked is asked again.
func (c *Cluster) adminClient() (kubernetes.Interface, error) {
	config, err := c.RESTConfig(Admin)
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	return kubernetes.NewForConfig(config)
}

func (c *Cluster) names() []string {
	var names []string
	for _, p := range c.components() {
		names = append(names, p.name)
	}
	return names
}

func since(t time.Time) string { return fmt.Sprintf("%.1f s", time.Since(t).Seconds()) }
