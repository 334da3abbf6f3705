// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/clock"

	"kudo.dev/kudo/executor/fault"
)

// refreshEvery is the least time between two reads of discovery: a package with a typo must not make every one of its
// tries read the whole of it.
const refreshEvery = 2 * time.Second

// Kinds knows which resource the objects of a kind belong to.
type Kinds struct {
	discovery discovery.CachedDiscoveryInterface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	dynamic   dynamic.Interface
	clock     clock.PassiveClock

	mu        sync.Mutex
	refreshed time.Time
}

// NewKinds reads discovery when it is first asked.
func NewKinds(d discovery.DiscoveryInterface, dyn dynamic.Interface, c clock.PassiveClock) *Kinds {
	cached := memory.NewMemCacheClient(d)
	return &Kinds{discovery: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached), dynamic: dyn, clock: c}
}

// Resource is where the objects of a kind live.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
}

// Resolve finds the resource of an object. An object of an API version that Kubernetes retired, and that this cluster no
// longer has, is turned into one of the successor; warning then says so. An unknown kind is an error that is tried again
// if a CustomResourceDefinition of it is in the cluster, and final otherwise.
func (k *Kinds) Resolve(ctx context.Context, obj *unstructured.Unstructured, template string) (r Resource, warning string, err error) {
	gvk := obj.GroupVersionKind()
	r, refreshed, err := k.lookup(gvk)
	if err == nil || !meta.IsNoMatchError(err) {
		return r, "", err
	}
	if successor, convert, ok := successorOf(gvk); ok {
		if r, _, err := k.lookup(successor); err == nil {
			if err := convert(obj); err != nil {
				return Resource{}, "", fault.Finalf(fault.ReasonEnhancement, "template %q: %s %s cannot be turned from %s, which Kubernetes retired, into %s: %w; write it as %s",
					template, gvk.Kind, obj.GetName(), gvk.GroupVersion(), successor.GroupVersion(), err, successor.GroupVersion())
			}
			obj.SetGroupVersionKind(successor)
			return r, "template \"" + template + "\": " + gvk.Kind + " " + obj.GetName() + " of " + gvk.GroupVersion().String() +
				", which Kubernetes retired, was applied as " + successor.GroupVersion().String() + "; change the template", nil
		}
	}
	return Resource{}, "", k.unknown(ctx, gvk, template, refreshed)
}

// Find is where the objects of a kind live that some template had, though it may be retired by now. The cluster has no objects of a kind
// that it does not know, which is an error with the reason UnknownKind.
func (k *Kinds) Find(ctx context.Context, gvk schema.GroupVersionKind, name string) (Ref, error) {
	r, _, err := k.lookup(gvk)
	if meta.IsNoMatchError(err) {
		if m, anyVersion := k.mapper.RESTMapping(gvk.GroupKind()); anyVersion == nil {
			gvk = m.GroupVersionKind
			r, err = Resource{GroupVersionResource: m.Resource, Namespaced: m.Scope.Name() == meta.RESTScopeNameNamespace}, nil
		} else {
			err = k.unknown(ctx, gvk, name, true)
		}
	}
	if err != nil {
		return Ref{}, err
	}
	return Ref{Resource: r, Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String(), Name: name}, nil
}

// lookup reads discovery again when it does not know the kind, unless it did so a moment ago; refreshed says that its
// answer is up to date.
func (k *Kinds) lookup(gvk schema.GroupVersionKind) (r Resource, refreshed bool, err error) {
	m, err := k.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) && k.refresh() {
		refreshed = true
		m, err = k.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		return Resource{}, refreshed, err
	}
	return Resource{GroupVersionResource: m.Resource, Namespaced: m.Scope.Name() == meta.RESTScopeNameNamespace}, refreshed, nil
}

func (k *Kinds) refresh() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock.Now()
	if now.Sub(k.refreshed) < refreshEvery {
		return false
	}
	k.refreshed = now
	k.mapper.Reset()
	return true
}

func (k *Kinds) unknown(ctx context.Context, gvk schema.GroupVersionKind, template string, refreshed bool) error {
	crd, err := k.definition(ctx, gvk.GroupKind())
	switch {
	case err != nil:
		return fault.Retryf("template %q: the cluster has no kind %s of %s, and whether there is a CustomResourceDefinition for it cannot be read: %w", template, gvk.Kind, gvk.GroupVersion(), err)
	case crd != nil && serves(crd, gvk.Version):
		return fault.Retryf("template %q: the kind %s of %s is not served yet, though its CustomResourceDefinition %s is in the cluster", template, gvk.Kind, gvk.GroupVersion(), crd.GetName())
	case crd != nil:
		return fault.Finalf(fault.ReasonUnknownKind, "template %q: the CustomResourceDefinition %s does not serve the version %s of kind %s; fix the template or the definition", template, crd.GetName(), gvk.Version, gvk.Kind)
	case !refreshed:
		return fault.Retryf("template %q: the kind %s of %s was not in the cluster when its kinds were last listed, a moment ago", template, gvk.Kind, gvk.GroupVersion())
	}
	var failed *discovery.ErrGroupDiscoveryFailed
	if _, _, err := k.discovery.ServerGroupsAndResources(); errors.As(err, &failed) {
		for gv := range failed.Groups {
			if gv.Group == gvk.Group {
				return fault.Retryf("template %q: the kinds of the API group %s cannot be listed: %w", template, gvk.Group, err)
			}
		}
	}
	return fault.Finalf(fault.ReasonUnknownKind, "template %q: the cluster has no kind %s of apiVersion %s, and no CustomResourceDefinition for it; install the CustomResourceDefinition before the plan runs or as an earlier step of it, or fix kind and apiVersion in the template",
		template, gvk.Kind, gvk.GroupVersion())
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// definition finds the CustomResourceDefinition of a kind, established or not.
func (k *Kinds) definition(ctx context.Context, gk schema.GroupKind) (*unstructured.Unstructured, error) {
	list, err := k.dynamic.Resource(definitions).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		if _, final := fault.Classify(err); final {
			return nil, nil // we may not look; the error about the kind itself is the one to show
		}
		return nil, err
	}
	for i := range list.Items {
		if Defines(&list.Items[i]) == gk {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// Defines is the kind that an object makes known to the cluster, if it is a CustomResourceDefinition, and zero otherwise.
func Defines(obj *unstructured.Unstructured) schema.GroupKind {
	if obj.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: definitions.Group, Kind: "CustomResourceDefinition"}) {
		return schema.GroupKind{}
	}
	group, _, _ := unstructured.NestedString(obj.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(obj.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

func serves(crd *unstructured.Unstructured, version string) bool {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if m, _ := v.(map[string]any); m["name"] == version && m["served"] == true {
			return true
		}
	}
	return false
}
