// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"kudo.dev/kudo/apis/kudo/v1beta1"
)

const (
	// Patience bounds every wait: far more than it takes on a busy machine.
	Patience = 2 * time.Minute
	// outage is the pause before a list or watch that failed is tried again.
	outage = 20 * time.Millisecond
)

// Resources that tests follow.
var (
	Executions   = v1beta1.SchemeGroupVersion.WithResource("planexecutions")
	Instances    = v1beta1.SchemeGroupVersion.WithResource("instances")
	ConfigMaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	Secrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	Pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	Events       = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	Claims       = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	Deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	StatefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	Jobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// Follow calls see with every state of the selected objects, and with present false for one that was deleted, until see
// returns true or ctx ends. After an outage of the server it begins again with the state of then.
func Follow(ctx context.Context, client dynamic.ResourceInterface, options metav1.ListOptions, see func(obj *unstructured.Unstructured, present bool) bool) error {
	for ctx.Err() == nil {
		list, err := client.List(ctx, options)
		if err != nil {
			pause(ctx)
			continue
		}
		if len(list.Items) == 0 && see(nil, false) {
			return nil
		}
		for i := range list.Items {
			if see(&list.Items[i], true) {
				return nil
			}
		}
		from := options
		from.ResourceVersion = list.GetResourceVersion()
		w, err := client.Watch(ctx, from)
		if err != nil {
			pause(ctx)
			continue
		}
		done := followEvents(w, see)
		w.Stop()
		if done {
			return nil
		}
	}
	return context.Cause(ctx)
}

func followEvents(w watch.Interface, see func(*unstructured.Unstructured, bool) bool) bool {
	for e := range w.ResultChan() {
		obj, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Error {
			return false
		}
		if e.Type != watch.Bookmark && see(obj, e.Type != watch.Deleted) {
			return true
		}
	}
	return false
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(outage):
	}
}

// Object waits for an object to be as enough says; nil is an object that does not exist.
func (l *Lab) Object(t *testing.T, gvr schema.GroupVersionResource, namespace, name, what string, enough func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	t.Helper()
	return l.Selected(t, gvr, namespace, metav1.ListOptions{FieldSelector: "metadata.name=" + name}, name+" "+what, enough)
}

// Selected is Object for the first of several that is as enough says.
func (l *Lab) Selected(t *testing.T, gvr schema.GroupVersionResource, namespace string, options metav1.ListOptions, what string, enough func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), Patience, errors.New("time is up"))
	defer cancel()
	var last *unstructured.Unstructured
	err := Follow(ctx, l.client(gvr, namespace), options, func(obj *unstructured.Unstructured, present bool) bool {
		if last = obj; !present {
			last = nil
		}
		return enough(last)
	})
	if err != nil {
		t.Fatalf("waiting for %s %s: %v; last seen:\n%s", gvr.Resource, what, err, text(last))
	}
	return last
}

func (l *Lab) client(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return l.Dynamic.Resource(gvr)
	}
	return l.Dynamic.Resource(gvr).Namespace(namespace)
}

func text(obj *unstructured.Unstructured) string {
	if obj == nil {
		return "(none)"
	}
	obj = obj.DeepCopy()
	obj.SetManagedFields(nil)
	data, err := json.MarshalIndent(obj.Object, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Decode makes an Instance or a PlanExecution of what a watch brought.
func Decode[T any](t *testing.T, obj *unstructured.Unstructured) *T {
	t.Helper()
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Run waits for a run to be as enough says.
func (l *Lab) Run(t *testing.T, pe *v1beta1.PlanExecution, what string, enough func(*v1beta1.PlanExecution) bool) *v1beta1.PlanExecution {
	t.Helper()
	var out *v1beta1.PlanExecution
	l.Object(t, Executions, pe.Namespace, pe.Name, what, func(obj *unstructured.Unstructured) bool {
		if obj == nil || obj.GetUID() != pe.UID {
			return false
		}
		out = Decode[v1beta1.PlanExecution](t, obj)
		return enough(out)
	})
	return out
}

// Ended waits for the end of a run, which must have the status.
func (l *Lab) Ended(t *testing.T, pe *v1beta1.PlanExecution, want v1beta1.ExecutionStatus) *v1beta1.PlanExecution {
	t.Helper()
	pe = l.Run(t, pe, "to end", func(pe *v1beta1.PlanExecution) bool { return pe.Status.Status.IsTerminal() })
	if pe.Status.Status != want {
		t.Fatalf("plan %s of %s ended with %s, want %s: %s", pe.Spec.PlanName, pe.Spec.InstanceName, pe.Status.Status, want, pe.Status.Message)
	}
	return pe
}

// Instance waits for an Instance to be as enough says.
func (l *Lab) Instance(t *testing.T, namespace, name, what string, enough func(*v1beta1.Instance) bool) *v1beta1.Instance {
	t.Helper()
	var out *v1beta1.Instance
	l.Object(t, Instances, namespace, name, what, func(obj *unstructured.Unstructured) bool {
		if obj == nil {
			return false
		}
		out = Decode[v1beta1.Instance](t, obj)
		return enough(out)
	})
	return out
}

// Unlocked waits until no run holds the Instance.
func (l *Lab) Unlocked(t *testing.T, namespace, name string) *v1beta1.Instance {
	t.Helper()
	return l.Instance(t, namespace, name, "to be unlocked", func(i *v1beta1.Instance) bool { return i.Spec.PlanExecution.UID == "" })
}
