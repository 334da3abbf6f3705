// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package apply

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kudo.dev/kudo/apis/kudo/v1beta1"
	"kudo.dev/kudo/executor/fault"
)

// Adopt makes an object that is in the cluster, and that this Instance is not known to have applied, ready to be applied. If KUDO applied
// it, by way of patches that it computed itself, the fields that it set become ours; otherwise those that the template no longer has would
// stay for ever. It fails if another controller has the object, and warns if another Instance had.
func (c *Client) Adopt(ctx context.Context, ref Ref, live *unstructured.Unstructured, id Identity) (warning string, err error) {
	if err := controlledByOthers(ref, live, id); err != nil {
		if leftBehind(live, id) && len(live.GetOwnerReferences()) == 1 && live.GetDeletionTimestamp() == nil {
			// The garbage collector deletes it, too, but after errors it may not try again for many minutes.
			_, deleteErr := c.DeleteExact(ctx, ref, live.GetUID())
			return "", errors.Join(err, deleteErr)
		}
		return "", err
	}
	if other := live.GetAnnotations()[AnnotationInstanceUID]; !ref.Namespaced && other != "" && other != string(id.InstanceUID) {
		warning = fmt.Sprintf("%s was applied by another Instance, %q, and is taken over; give it a name that has the name and the namespace of the Instance in it", ref, live.GetLabels()[LabelInstance])
	}
	managers := patched(live.GetManagedFields())
	if len(managers) == 0 {
		return warning, nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, managers, FieldManager)
	if err != nil || patch == nil {
		return warning, err
	}
	ctx, cancel, err := c.change(ctx)
	if err != nil {
		return "", err
	}
	defer cancel()
	_, err = c.resource(ref).Patch(ctx, ref.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	if err = c.served(ref, err); err != nil {
		return warning, fmt.Errorf("%s, which KUDO applied, cannot be taken over: %w", ref, err)
	}
	return warning, nil
}

// patched are the managers that wrote KUDO's annotation other than by server-side apply. What they set came from a template. There are
// none once we have applied the object.
func patched(fields []metav1.ManagedFieldsEntry) sets.Set[string] {
	out := sets.New[string]()
	for _, e := range fields {
		if e.Manager == FieldManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return nil
		}
	}
	annotation := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", AnnotationLastApplied))
	for _, e := range csaupgrade.FindFieldsOwners(fields, metav1.ManagedFieldsOperationUpdate, annotation) {
		if e.Subresource == "" {
			out.Insert(e.Manager)
		}
	}
	return out
}

// controlledByOthers is the error about an object that something else than the Instance controls. The server refuses a second controller
// with a list of owners and no word on what to do.
func controlledByOthers(ref Ref, live *unstructured.Unstructured, id Identity) error {
	o := metav1.GetControllerOf(live)
	if !ref.Namespaced || o == nil || o.UID == id.InstanceUID {
		return nil
	}
	if leftBehind(live, id) {
		// There is one Instance of a name at a time. The garbage collector removes what was that one's.
		return fault.Retryf("%s belongs to an Instance %q that was deleted, and waits for the garbage collector of Kubernetes, which removes it; to keep it, take its owner reference away", ref, o.Name)
	}
	return fault.Finalf(fault.ReasonRejected, "%s exists and has the controller %s %q, so this Instance cannot apply it; give the object another name in the template, for example one that begins with {{ .Name }}, or delete %s %q if nobody needs it",
		ref, o.Kind, o.Name, o.Kind, o.Name)
}

// leftBehind tells whether the object belongs to an Instance of the same name that was there before.
func leftBehind(live *unstructured.Unstructured, id Identity) bool {
	o := metav1.GetControllerOf(live)
	return o != nil && o.UID != id.InstanceUID && o.APIVersion == v1beta1.SchemeGroupVersion.String() && o.Kind == "Instance" && o.Name == id.Instance
}
