// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package options

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

// policyResources are what the admission plugins watch in kube-apiserver. A plugin that cannot makes every write wait for ten
// seconds and fail.
var policyResources = map[string][]string{
	mutatingpolicy.PluginName:    {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
	validatingpolicy.PluginName:  {"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
	mutatingwebhook.PluginName:   {"mutatingwebhookconfigurations"},
	validatingwebhook.PluginName: {"validatingwebhookconfigurations"},
}

// pluginDisabled tells monitoring which admission plugin does not work, and why.
var pluginDisabled = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Namespace: "kudo", Subsystem: "apiserver", Name: "admission_plugin_disabled",
	Help:           "1 for each admission plugin that was disabled at start, because kube-apiserver does not serve what it watches (reason NotServed) or this server may not watch it (reason Forbidden).",
	StabilityLevel: metrics.ALPHA,
}, []string{"plugin", "reason"})

func init() { legacyregistry.MustRegister(pluginDisabled) }

// probeTimeout is how long the server waits for kube-apiserver when it starts.
const probeTimeout = 2 * time.Minute

// unusablePlugins asks kube-apiserver which plugins cannot work, and says so loudly.
func unusablePlugins(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	var unusable []string
	for _, plugin := range slices.Sorted(maps.Keys(policyResources)) {
		resources := policyResources[plugin]
		reason, detail, err := probe(ctx, client, resources)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			continue
		}
		klog.FromContext(ctx).Error(nil, "ADMISSION PLUGIN DISABLED: policies of this kind do not apply to kudo.dev until it is mended and this server restarted",
			"plugin", plugin, "reason", reason, "detail", detail)
		pluginDisabled.WithLabelValues(plugin, reason).Set(1)
		unusable = append(unusable, plugin)
	}
	return unusable, nil
}

// probe returns an empty reason if all resources are served and may be listed and watched. It waits for kube-apiserver for a while.
func probe(ctx context.Context, client kubernetes.Interface, resources []string) (reason, detail string, err error) {
	var last error
	err = wait.PollUntilContextTimeout(ctx, time.Second, probeTimeout, true, func(ctx context.Context) (bool, error) {
		reason, detail, last = probeOnce(ctx, client, resources)
		return last == nil, nil
	})
	if err != nil {
		return "", "", fmt.Errorf("cannot ask kube-apiserver what it serves and what this server may watch: %w (last error: %w); check --kubeconfig and the network", err, last)
	}
	return reason, detail, nil
}

func probeOnce(ctx context.Context, client kubernetes.Interface, resources []string) (reason, detail string, err error) {
	group := admissionregistrationv1.SchemeGroupVersion
	served, err := client.Discovery().ServerResourcesForGroupVersion(group.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return "", "", err
	}
	names := sets.New[string]()
	if served != nil {
		for _, r := range served.APIResources {
			names.Insert(r.Name)
		}
	}
	for _, resource := range resources {
		if !names.Has(resource) {
			return "NotServed", fmt.Sprintf("kube-apiserver does not serve %s in %s", resource, group), nil
		}
		for _, verb := range []string{"list", "watch"} {
			review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
					Group: group.Group, Version: group.Version, Resource: resource, Verb: verb}},
			}, metav1.CreateOptions{})
			if err != nil {
				return "", "", err
			}
			if !review.Status.Allowed {
				return "Forbidden", fmt.Sprintf("this server may not %s %s.%s: bind it to the ClusterRole of the installation manifests", verb, resource, group.Group), nil
			}
		}
	}
	return "", "", nil
}

// quotaInitializer lets the quota plugin count every kind of object.
type quotaInitializer struct{ configuration quota.Configuration }

func newQuotaInitializer() admission.PluginInitializer {
	return quotaInitializer{generic.NewConfiguration(nil, nil)}
}

// Initialize gives the configuration to the plugin that wants it.
func (q quotaInitializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(initializer.WantsQuotaConfiguration); ok {
		wants.SetQuotaConfiguration(q.configuration)
	}
}
