// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"kudo.dev/kudo/executor/fault"
)

// callTimeout bounds one call, so that a server that does not answer holds a step up no longer than that.
const callTimeout = 30 * time.Second

// ErrResourceGone says that the cluster has stopped to serve the resource that an object was resolved to. Objects of it
// may still exist, under another version: they have to be resolved again before anything is said of them.
var ErrResourceGone = errors.New("the kinds of the cluster are looked up again")

// Client applies, reads and deletes objects.
type Client struct {
	Kinds   *Kinds
	Dynamic dynamic.Interface
	// Life bounds calls that change the cluster. Such a call goes on to its answer when the context it was made with ends: given up,
	// it could still take effect, after what the next run does. If Life is nil, the call ends with its context.
	Life context.Context
}

// Ref names an object in the cluster.
type Ref struct {
	Resource
	// Kind and APIVersion are as applied; they serve messages.
	Kind, APIVersion string
	Namespace, Name  string
}

// String is kind and namespace/name, as messages show it.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// RefOf names a prepared object.
func RefOf(obj *unstructured.Unstructured, r Resource) Ref {
	return Ref{Resource: r, Kind: obj.GetKind(), APIVersion: obj.GetAPIVersion(), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// Apply creates or changes an object by server-side apply and returns it as the server then has it. Fields that others
// set and the template sets too become the template's. Warnings say what was done to make the object acceptable.
func (c *Client) Apply(ctx context.Context, obj *unstructured.Unstructured, r Resource) (applied *unstructured.Unstructured, warnings []string, err error) {
	ref := RefOf(obj, r)
	obj = obj.DeepCopy()
	if isJob(obj) {
		if err := c.keepJobMarks(ctx, ref, obj); err != nil {
			return nil, nil, fmt.Errorf("%s cannot be read: %w", ref, err)
		}
	}
	applied, err = c.patch(ctx, ref, obj)
	if err != nil && hasUnknownFields(err) {
		// KUDO dropped fields that the kind does not have, and packages have such fields.
		if dropped := dropUnknownFields(obj); len(dropped) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: fields that the kind does not have were left out: %v; remove them from the template", ref, dropped))
			applied, err = c.patch(ctx, ref, obj)
		}
	}
	if err != nil {
		return nil, warnings, explain(ref, err)
	}
	return applied, warnings, nil
}

func (c *Client) patch(ctx context.Context, ref Ref, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := setLastApplied(obj); err != nil {
		return nil, err
	}
	ctx, cancel, err := c.change(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	applied, err := c.resource(ref).Apply(ctx, ref.Name, obj, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	return applied, c.served(ref, err)
}

// Get reads an object; nil if there is none.
func (c *Client) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	obj, err := c.resource(ref).Get(ctx, ref.Name, metav1.GetOptions{})
	err = c.served(ref, err)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// Delete asks for an object to be deleted after everything it owns, and reports whether it is gone already.
func (c *Client) Delete(ctx context.Context, ref Ref) (gone bool, err error) {
	return c.delete(ctx, ref, nil)
}

// DeleteExact is Delete for the object with that uid and no other that may have its name by now.
func (c *Client) DeleteExact(ctx context.Context, ref Ref, uid types.UID) (gone bool, err error) {
	return c.delete(ctx, ref, &metav1.Preconditions{UID: &uid})
}

func (c *Client) delete(ctx context.Context, ref Ref, only *metav1.Preconditions) (gone bool, err error) {
	ctx, cancel, err := c.change(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	err = c.served(ref, c.resource(ref).Delete(ctx, ref.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground), Preconditions: only}))
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s cannot be deleted: %w", ref, err)
	}
	return false, nil
}

// change returns the context of a call that changes the cluster. No such call begins after the end of ctx.
func (c *Client) change(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if c.Life == nil {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		return ctx, cancel, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	stop := context.AfterFunc(c.Life, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// served tells the answer to a path that nobody serves from the one that an object does not exist, which has the same
// code, but is the API's own. The former is turned into ErrResourceGone and makes discovery be read anew.
func (c *Client) served(ref Ref, err error) error {
	if !apierrors.IsNotFound(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return err
	}
	c.Kinds.refresh()
	return fault.Retryf("the cluster no longer serves %s of %s: %w", ref.Resource.Resource, ref.GroupVersion(), ErrResourceGone)
}

func (c *Client) resource(ref Ref) dynamic.ResourceInterface {
	if ref.Namespaced {
		return c.Dynamic.Resource(ref.GroupVersionResource).Namespace(ref.Namespace)
	}
	return c.Dynamic.Resource(ref.GroupVersionResource)
}
