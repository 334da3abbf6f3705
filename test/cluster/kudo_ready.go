// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
)

// WaitAvailable waits until kudo-apiserver is ready and the cluster serves
// kudo.dev through it.
func (k *KUDO) WaitAvailable(ctx context.Context) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	config, err := k.c.RESTConfig(Admin)
	if err != nil {
		return err
	}
	config.Timeout = 5 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	apiServices, err := aggregator.NewForConfig(config)
	if err != nil {
		return err
	}
	// Straight to the server first: what the aggregator last saw may have been
	// the process before this one.
	direct, err := k.directClient(config)
	if err != nil {
		return err
	}
	needs := []string{etcd, kubeAPIServer, kudoServer}
	if err := k.c.until(ctx, "kudo-apiserver to be ready", k.c.ready(direct), needs...); err != nil {
		return err
	}
	if err := nudge(ctx, apiServices); err != nil {
		return err
	}
	if err := k.c.until(ctx, kudoAPIService+" to be Available", func(ctx context.Context) error {
		s, err := apiServices.ApiregistrationV1().APIServices().Get(ctx, kudoAPIService, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return available(s)
	}, needs...); err != nil {
		return err
	}
	return k.c.until(ctx, "kudo.dev to be served", func(ctx context.Context) error {
		return discovered(ctx, client)
	}, needs...)
}

// discovered is nil once clients that look up what the cluster serves find kudo.dev
// there. The aggregator collects that on its own and later than the APIService is
// Available; until then kubectl knows of no Instances.
func discovered(ctx context.Context, client kubernetes.Interface) error {
	data, err := client.Discovery().RESTClient().Get().AbsPath("/apis").
		SetHeader("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").Do(ctx).Raw()
	if err != nil {
		return err
	}
	var groups apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(data, &groups); err != nil {
		return fmt.Errorf("/apis: %w", err)
	}
	for _, group := range groups.Items {
		for _, version := range group.Versions {
			if version.Version+"."+group.Name != kudoAPIService {
				continue
			}
			if version.Freshness == apidiscoveryv2.DiscoveryFreshnessCurrent && len(version.Resources) > 0 {
				return nil
			}
			return fmt.Errorf("what /apis says of %s is %s and has %d resources", kudoAPIService, version.Freshness, len(version.Resources))
		}
	}
	return fmt.Errorf("/apis does not have %s", kudoAPIService)
}

// directClient talks to the server past the aggregator, as the administrator. The
// server's certificate is for its Service and from an authority only the
// APIService knows; on loopback it is taken as it is.
func (k *KUDO) directClient(admin *rest.Config) (kubernetes.Interface, error) {
	config := rest.CopyConfig(admin)
	config.Host = k.ServerURL()
	config.TLSClientConfig = rest.TLSClientConfig{Insecure: true}
	return kubernetes.NewForConfig(config)
}

// nudge has the aggregator look at the server again. Where the server is a pod,
// its endpoints change when it comes back; here nothing does, and the aggregator
// would look at its next try, which may be half a minute away.
func nudge(ctx context.Context, client aggregator.Interface) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"test.kudo.dev/server-started":%q}}}`, time.Now().Format(time.RFC3339Nano))
	_, err := client.ApiregistrationV1().APIServices().Patch(ctx, kudoAPIService, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("cluster: touch APIService %s: %w", kudoAPIService, err)
	}
	return nil
}

func available(s *apiregistrationv1.APIService) error {
	for _, cond := range s.Status.Conditions {
		if cond.Type == apiregistrationv1.Available {
			if cond.Status == apiregistrationv1.ConditionTrue {
				return nil
			}
			return fmt.Errorf("APIService %s: %s: %s", s.Name, cond.Reason, cond.Message)
		}
	}
	return fmt.Errorf("APIService %s: nobody looked at it yet", s.Name)
}

// waitExecutor waits until the executor says it is ready.
func (k *KUDO) waitExecutor(ctx context.Context) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	client := http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	return k.c.until(ctx, "kudo-executor to be healthy", func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.ExecutorURL()+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(k.ExecutorURL() + "/readyz: " + resp.Status)
		}
		return nil
	}, etcd, kubeAPIServer, kudoExecutor)
}
