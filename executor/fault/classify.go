// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package fault

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Classify says whether an error ends the run, and with which reason. Everything it does not know is tried again:
// connections that break, timeouts of ours, servers that are starting.
func Classify(err error) (reason string, final bool) {
	if err == nil {
		return "", false
	}
	if reason, final, ok := marked(err); ok {
		return reason, final
	}
	status := apiStatus(err)
	if status == nil {
		return ReasonTransient, false
	}
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ReasonNamespace, true
	case webhookFailed(status.Message):
		return ReasonTransient, false
	case mendsItself(status.Message):
		return ReasonTransient, false
	case schemaMismatch(status.Message):
		return ReasonRejected, true
	case immutable(status):
		return ReasonImmutable, true
	}
	switch status.Reason {
	case metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest, metav1.StatusReasonRequestEntityTooLarge, metav1.StatusReasonMethodNotAllowed,
		metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonNotAcceptable:
		return ReasonRejected, true
	case metav1.StatusReasonForbidden:
		return ReasonForbidden, true
	case metav1.StatusReasonNotFound:
		return notFound(status)
	}
	switch status.Code { // a webhook may refuse with a reason of its own
	case http.StatusForbidden:
		return ReasonForbidden, true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge, http.StatusMethodNotAllowed:
		return ReasonRejected, true
	}
	return ReasonTransient, false
}

// RetryAfter is the time a server asked us to wait for; zero if it did not.
func RetryAfter(err error) time.Duration {
	if s, ok := apierrors.SuggestsClientDelay(err); ok {
		return time.Duration(s) * time.Second
	}
	return 0
}

func apiStatus(err error) *metav1.Status {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return nil
	}
	status := s.Status()
	return &status
}

// notFound: a write finds no namespace, which nobody will bring back for this Instance, or no such resource, which
// discovery is behind on and which sorts itself out.
func notFound(status *metav1.Status) (string, bool) {
	if status.Details != nil && status.Details.Kind == "namespaces" {
		return ReasonNamespace, true
	}
	return ReasonTransient, false
}

// webhookFailed tells a webhook that could not be called from one that refused: the server wraps the former in an
// internal error, and operators often deploy the webhook they then wait for.
func webhookFailed(message string) bool { return strings.Contains(message, "failed calling webhook") }

// mendsItself: refused with Forbidden, but for want of something that comes by itself: quota that others free or that is
// not counted yet, or the service account of a pod, which a controller (in a new namespace) or a parallel step is about to
// create.
func mendsItself(message string) bool {
	return strings.Contains(message, "exceeded quota") || strings.Contains(message, "status unknown for quota") ||
		strings.Contains(message, "error looking up service account")
}

// schemaMismatch: server-side apply reports an object that does not fit the schema of its kind as an internal error.
func schemaMismatch(message string) bool {
	return strings.Contains(message, "failed to create typed patch object") || strings.Contains(message, "failed to create manager for existing fields")
}

func immutable(status *metav1.Status) bool {
	return status.Reason == metav1.StatusReasonInvalid && slices.ContainsFunc(immutableSays, func(s string) bool { return strings.Contains(status.Message, s) })
}

// immutableSays is how the built-in kinds, and the rules of CustomResourceDefinitions, say that a field cannot be changed.
var immutableSays = []string{
	"field is immutable", "Value is immutable", "spec is immutable", "may not change once set", "may not be changed once set", "can not be unset",
	"updates to statefulset spec for fields other than", "pod updates may not change fields other than", "cannot change roleRef",
	"updates to parameters are forbidden", "updates to provisioner are forbidden", "updates to reclaimPolicy are forbidden", "may not be changed in an update",
}
